mysql:
  sections:
    mysqld:
      - name: general
        port: 3307
        user: mysql
      - name: caches
        max_connections: 100

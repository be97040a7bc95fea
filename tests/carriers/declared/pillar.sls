{% set size = salt['grains.get']('pool', '1G') %}
mysql:
  server:
    root_password: hunter2
    mysqld:
      innodb_buffer_pool_size: {{ size }}
      bind-address: 0.0.0.0
      port: 3307
      skip-name-resolve: noarg_present

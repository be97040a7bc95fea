resource "digitalocean_database_mysql_config" "main" {
  cluster_id      = digitalocean_database_cluster.main.id
  connect_timeout = 10
  backup_hour     = 3
  sql_mode        = "ANSI,TRADITIONAL"
}

resource "oci_mysql_mysql_configuration" "main" {
  shape_name = "MySQL.4"
  variables {
    max_connections = "501"
  }
}

resource "aiven_mysql" "main" {
  mysql_user_config {
    mysql_version = 8
    mysql {
      sort_buffer_size = 1048576
    }
  }
}

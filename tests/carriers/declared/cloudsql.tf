resource "google_sql_database_instance" "main" {
  name             = "main"
  database_version = "MYSQL_8_0_36"
  settings {
    tier = "db-n1-standard-4"
    database_flags {
      name  = "slow_query_log"
      value = "on"
    }
    database_flags {
      name  = "long_query_time"
      value = var.seconds
    }
  }
}

resource "google_sql_database_instance" "reports" {
  database_version = "POSTGRES_16"
  settings {
    database_flags {
      name  = "max_connections"
      value = "500"
    }
  }
}

module "fabric" {
  source           = "example.com/modules/cloudsql-instance"
  database_version = "MYSQL_8_0"
  flags = {
    wait_timeout       = "600"
    innodb_sort_buffer_size = 4 * 1024 * 1024
  }
}

module "other" {
  source           = "example.com/modules/cloudsql-instance"
  database_version = var.version
  flags            = { "cloudsql.iam_authentication" = "on", max_connections = "500" }
}

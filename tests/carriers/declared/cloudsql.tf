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

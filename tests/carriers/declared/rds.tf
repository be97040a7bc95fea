// Groups as people write them: é moves the bytes, not the columns.
locals {
  pool = "{DBInstanceClassMemory*3/4}"
}

resource "aws_db_parameter_group" "main" {
  name_prefix = "é-"
  family      = "mysql8.0"

  parameter {
    name  = "innodb_flush_log_at_trx_commit"
    value = "2" # é
  }
  parameter {
    name         = "performance_schema"
    value        = true
    apply_method = "pending-reboot"
  }
  /* a variable, an expression and a function have no value here */
  parameter {
    name  = "max_connections"
    value = var.connections
  }
  parameter {
    name  = "innodb_buffer_pool_size"
    value = local.pool
  }
  parameter { 
    name = "init_connect" 
    value = "SET SESSION sql_mode=\"ANSI\", @x='${var.x}'"
  }
  parameter { 
    name = "sql_mode" 
    value = join(",", ["ANSI"])
  }
  dynamic "parameter" {
    for_each = var.more
    content {
      name  = parameter.value.name
      value = parameter.value.value
    }
  }
}

resource "aws_rds_cluster_parameter_group" "cluster" {
  family = "aurora-mysql8.0"
  parameter {
    apply_method = "pending-reboot"
    name         = "binlog_format"
    value        = "ROW"
  }
}

resource "aws_db_parameter_group" "other" {
  family = "postgres16"
  parameter {
    name  = "work_mem"
    value = "65536"
  }
}

resource "aws_db_parameter_group" "unnamed" {
  family = var.family
  parameter {
    name  = "log_min_duration_statement"
    value = "500"
  }
}

resource "aws_db_parameter_group" "old" {
  family = "mysql5.6"
  parameter {
    name  = "max_connections"
    value = 500
  }
}

resource "aws_rds_cluster_parameter_group" "unnamed" {
  family = var.family
  parameter {
    name  = "log_slow_verbosity"
    value = "query_plan"
  }
}

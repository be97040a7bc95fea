locals {
  family   = "mysql8.0"
  packet   = "67108864"
  defaults = {
    max_connections = "500"
    wait_timeout    = "600"
  }
  list = [
    { name = "long_query_time", value = "1", apply_method = "immediate" },
    { name = "slow_query_log", value = "1" },
  ]
  stores = {
    orders = { family = "mysql8.0", parameters = { sort_buffer_size = "262144" } }
    users  = { family = "mysql5.7", parameters = { join_buffer_size = "262144" } }
  }
}

resource "aws_db_parameter_group" "main" {
  family = local.family

  parameter {
    name         = "max_allowed_packet"
    value        = local.packet
    apply_method = var.method
  }

  dynamic "parameter" {
    for_each = merge(local.defaults, var.more, { interactive_timeout = "600" })
    content {
      name  = parameter.key
      value = parameter.value
    }
  }

  dynamic "parameter" {
    for_each = concat(local.list, var.list, [{ name = "log_output", value = "FILE" }])
    iterator = one
    content {
      name         = one.value["name"]
      value        = lookup(one.value, "value", null)
      apply_method = lookup(one.value, "apply_method", "pending-reboot")
    }
  }

  dynamic "parameter" {
    for_each = var.audited ? [1] : []
    content {
      name  = "general_log"
      value = "1"
    }
  }

  dynamic "parameter" {
    for_each = var.durable ? [1] : []
    content {
      name  = "sync_binlog"
      value = "1"
    }
  }

  dynamic "parameter" {
    for_each = var.durable ? [] : [1]
    content {
      name  = "sync_binlog"
      value = "0"
    }
  }
}

resource "aws_db_parameter_group" "stores" {
  for_each = local.stores
  family   = each.value.family

  dynamic "parameter" {
    for_each = each.value.parameters
    content {
      name  = parameter.key
      value = "${parameter.value}"
    }
  }
}

resource "azurerm_mysql_flexible_server_configuration" "all" {
  for_each    = { slow_query_log = "ON", long_query_time = 5 }
  name        = each.key
  server_name = var.server
  value       = each.value
}

module "db" {
  source     = "terraform-aws-modules/rds/aws"
  family     = local.family
  parameters = local.list
}

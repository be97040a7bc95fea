module "db" {
  source               = "terraform-aws-modules/rds/aws"
  engine               = "mariadb"
  engine_version       = "10.11.6"
  family               = "mariadb10.11"
  major_engine_version = "10.11"
  parameters = concat([
    {
      name  = "slow_query_log"
      value = 1
    },
    { "name" = "long_query_time", "value" = "0.5", "apply_method" = "immediate" },
  ], var.parameters)
}

module "aurora" {
  source                            = "terraform-aws-modules/rds-aurora/aws"
  engine                            = "aurora-mysql"
  db_parameter_group_family         = "aurora-mysql5.7"
  db_parameter_group_parameters     = [{ name = "max_connections", value = 2000 }]
  db_cluster_parameter_group_family = "aurora-mysql5.7"
  db_cluster_parameter_group_parameters = [
    { name = "binlog_format", value = "ROW", apply_method = "pending-reboot" },
  ]
}

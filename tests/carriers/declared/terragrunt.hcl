terraform {
  source = "tfr:///terraform-aws-modules/rds/aws?version=6.0.0"
}

inputs = {
  family = "mysql8.4"
  parameters = [
    { name = "max_connections", value = "2000" },
  ]
}

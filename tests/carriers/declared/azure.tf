resource "azurerm_mysql_flexible_server" "main" {
  name    = "main"
  version = "8.0.21"
}

resource "azurerm_mysql_flexible_server_configuration" "wait" {
  name                = "interactive_timeout"
  resource_group_name = azurerm_resource_group.main.name
  server_name         = azurerm_mysql_flexible_server.main.name
  value               = "600"
}

resource "azurerm_mysql_flexible_server_configuration" "tls" {
  name                = "require_secure_transport"
  resource_group_name = azurerm_resource_group.main.name
  server_name         = azurerm_mysql_flexible_server.main.name
  value               = "OFF"
}

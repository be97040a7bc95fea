"""Tables and load for a throwaway server, driven by sysbench if it is installed, otherwise by our own driver.

See `tables.fill_tables`, `scans.create_table`, `statements.OLTP` for the workloads, and `driver` to run them.
"""

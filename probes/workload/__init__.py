"""Tables and load for a throwaway server: sysbench's where it is installed, else a driver of our own.

`tables.fill` makes sbtest tables, `scans.make` a table to scan; `statements.OLTP` are the known workloads;
`driving.drive` runs one for a while and gives what it did, second by second.
"""

#compdef mycnf
# zsh completion for mycnf, made from the program's own parser by `make docs`.

_mycnf_targets() {
  compadd "$@" -- mysql-5.7 mysql-8.0 mysql-8.4 mysql-9.7 mariadb-10.6 mariadb-10.11 mariadb-11.4 mariadb-11.8 mariadb-12.3 mysql-enterprise-5.7 mysql-enterprise-8.0 mysql-enterprise-8.4 mysql-enterprise-9.7 percona-5.7 percona-8.0 percona-8.4 pxc-5.7 pxc-8.0 pxc-8.4
}

_mycnf_rules() {
  compadd "$@" -- ARI001 ARI002 ARI003 ARI004 ARI005 ARI006 BIN001 BIN002 BIN003 BIN004 BIN005 BIN006 BIN007 BIN008 BIN009 BIN010 BIN011 BIN012 BIN013 BIN014 BIN015 BIN016 BIN017 BIN018 BIN019 BIN020 BLK001 BLK002 BLK003 BLK004 BLK005 BLK006 BLK007 BLK008 BLK009 BLK010 BUF001 BUF002 BUF003 BUF004 BUF005 BUF006 BUF007 BUF008 BUF009 CON001 CON002 CON003 CON004 CON005 CON006 CON007 CON008 CON009 CON010 CON011 CON012 CON013 CON014 CON015 CON016 CON017 CON018 CON019 CON020 CON021 CON022 CON023 CON024 CON025 CON026 CON027 CON028 CON029 CON030 CON031 CON032 CON033 CON034 DUR001 DUR002 DUR003 DUR004 DUR005 DUR006 DUR007 DUR008 DUR009 DUR010 ERR001 ERR002 ERR003 ERR004 ERR005 ERR006 ERR007 ERR008 ERR009 ERR010 ERR011 ERR012 ERR013 ERR014 ERR015 ERR016 ERR017 ERR018 ERR019 ERR020 ERR021 ERR022 ERR023 GAL001 GAL002 GAL003 GAL004 GAL005 GAL006 GAL007 GAL008 GAL009 GAL010 GAL011 GAL012 GAL013 GAL014 GAL015 GAL016 GAL017 GAL018 GAL019 GAL020 GAL021 GAL022 GAL023 GAL024 GAL025 GAL026 GAL027 GAL028 GAL029 GRO001 GRO002 GRO003 GRO004 GRP001 GRP002 GRP003 GRP004 GRP005 GRP006 GRP007 GRP008 GRP009 GRP010 GRP011 GRP012 GRP013 GRP014 GRP015 GRP016 GRP017 HOU001 HOU002 HOU003 HOU004 HOU005 INN001 INN002 INN003 INN004 INN005 INN006 INN007 INN008 INN009 INN010 INN011 INN012 INN013 INN014 INN015 INN016 INN017 INN018 INN019 INN020 INN021 INN022 INN023 INN024 INN025 INN026 INN027 INN028 INN029 INN030 INN031 INN032 INN033 INN034 INN035 INN036 INN037 INN038 INN039 INN040 INN041 INN042 INN043 INN044 INN045 INN046 INN047 INN048 INN049 INN050 INN051 INN052 LOG001 LOG002 LOG003 LOG004 LOG005 LOG006 LOG007 LOG008 MEM001 MEM002 MEM003 MEM004 MEM005 MEM006 MEM007 MOD001 MOD002 MOD003 MOD004 MOD005 MOD006 MOD007 MOD008 MOD009 MOD010 MOD011 MOD012 MYI001 MYI002 MYI003 MYI004 MYI005 MYI006 MYI007 OBS001 OBS002 OBS003 OBS004 OBS005 OBS006 OBS007 OBS008 OBS009 OBS010 OPT001 OPT002 OPT003 OPT004 OPT005 OPT006 OPT007 OPT008 OPT009 OPT010 OPT011 OPT012 OPT013 OPT014 OPT015 OPT016 OPT017 OPT018 OPT019 OPT020 OPT021 OPT022 OPT023 OPT024 OPT025 PAR001 PAR002 PAR003 PAR004 PAR005 PAR006 REP001 REP002 REP003 REP004 REP005 REP006 REP007 REP008 REP009 REP010 REP011 REP012 REP013 REP014 REP015 REP016 REP017 REP018 REP019 REP020 REP021 REP022 REP023 REP024 REP025 REP026 REP027 REP028 REP029 REP030 REP031 SCH001 SCH002 SCH003 SCH004 SCH005 SCH006 SCH007 SEC001 SEC002 SEC003 SEC004 SEC005 SEC006 SEC007 SEC008 SEC009 SEC010 SEC011 SEC012 SEC013 SEC014 SEC015 SEC016 SEC017 SEC018 SEC019 SEC020 SEC021 SEC022 SEC023 SEC024 SEC025 SEC026 SEC027 SEC028 SEC029 SEC030 SEC031 STO001 STO002 STO003 STO004 STO005 STO006 STO007 STO008 STO009 STO010 STO011 STO012 STO013 STO014 STO015 STO016 STO017 STO018 STO019 STO020 STO021 STO030 SUP001 SUP002 SUP003 SUP004 SYS001 SYS002 SYS003 SYS004 SYS005 SYS006 SYS007 SYS008 SYS009 SYS010 SYS011 SYS012 SYS013 SYS014 SYS015 SYS016 SYS017 SYS018 SYS019 SYS030 SYS031 SYS032 TAB001 TAB002 TAB003 TAB004 TLS001 TLS002 TLS003 TLS004 TLS005 TLS006 TLS007 TLS008 TLS009 TMP001 TMP002 TMP003 TMP004 TMP005 TMP006 TMP007 TMP008 TMP009 VER001 VER002 VER003 VER004 VER005 WRK001 WRK002 WRK003 WRK004 WRK005 WRK006 WRK007 WRK008 WRK009 WRK010 WRK011 WRK012 WRK013 aria-logs-kept aria-checkpoints-off aria-checksums-off no-aria-repair idle-aria-page-cache aria-pages-from-disk binary-log-never-expires zero-server-id statement-based-log short-binary-log skipped-replication-errors binary-log-named-off purge-waits-for-replica tiny-binary-logs delayed-commits binary-log-switched-off unchecked-functions-in-statement-log innodb-binary-log-not-enabled innodb-binary-log-on-galera-node innodb-binary-log-with-semi-sync unencrypted-innodb-binary-log unused-by-innodb-binary-log innodb-binary-log-without-gtid small-transaction-limit overruled-binary-log-setting unlogged-after-write-error idle-session-blocks-rows statement-blocks-rows crowd-waits-for-rows metadata-lock-queue global-lock-blocks-sessions flush-waits-for-statement named-lock-queue transaction-left-open history-grows-behind-transaction prepared-transaction-left oversized-read-buffer pointless-read-buffer oversized-sort-buffer oversized-join-buffer oversized-read-rnd-buffer oversized-temporary-tables capped-temporary-tables query-cache rearmed-query-cache user-limit-without-effect small-thread-stack thread-cache-off uncached-host-names uncounted-connect-errors packet-below-dump replica-packet-below-statements spare-port-without-address unused-thread-pool starved-thread-pool idle-connections-cut interactive-timeout-alone no-lock-wait row-waits-for-hours slow-handshakes autocommit-off deadlocks-time-out connections-refused few-connections-left oversized-connection-limit threads-made-anew more-running-than-processors aborted-connects aborted-clients backlog-cut-by-kernel thread-pool-unlike-processors idle-processors-by-limit metadata-wait-for-days offline-mode short-network-timeouts hosts-blocked-early idle-sessions-kept failing-init-connect expiring-passwords lost-commits unsynced-binary-log no-doublewrite unsynced-data-files checksums-off file-system-without-barriers redo-log-disabled myisam-by-default lax-sql-mode data-files-without-sync server-crashed unclean-shutdown failed-start out-of-memory-logged threads-not-created long-semaphore-waits innodb-corruption-logged table-marked-as-crashed tablespace-missing-logged disk-full-logged read-only-file-system-logged redo-log-full-logged too-many-connections-logged access-denied-burst aborted-connections-burst replication-error-logged cluster-majority-lost disk-errors-logged logging-turned-off too-many-open-files-logged table-full-logged plugin-not-loaded system-tables-not-upgraded galera-half-configured galera-founds-itself-anew galera-without-quorum galera-not-in-rows galera-locks-auto-increment galera-logs-half galera-local-schema-changes galera-blocking-transfer galera-of-two-nodes refused-galera-timeout single-galera-applier small-galera-cache galera-without-certification-keys galera-non-primary galera-not-ready galera-desynced galera-flow-control galera-applier-blocked galera-slow-applier galera-conflicts galera-nodes-missing galera-node-outweighs-others galera-cache-for-minutes pxc-strict-mode-off galera-rejects-queries galera-transfer-without-account galera-transfer-without-script galera-unreachable-address galera-option-line-without-effect disk-full-soon binary-logs-outgrow-disk grown-undo-tablespaces grown-temporary-tablespaces group-founds-itself-anew group-needs-unmet multi-primary-without-checks group-without-flow-control unlimited-group-transactions group-that-survives-nothing member-outside-its-group writable-group-secondary mixed-group-versions group-applier-blocked group-member-behind long-member-expel-timeout expelled-members-stay-out group-exit-stops-server group-cache-exceeds-memory open-group-without-tls recovering-group-member missing-house-option forbidden-house-option below-house-minimum above-house-maximum value-outside-house-rules pointless-buffer-pool-instances many-buffer-pool-instances random-read-ahead wasted-read-ahead flush-neighbors-on-ssd oversized-io-capacity few-buffer-pool-instances io-capacity-above-its-maximum double-buffering page-across-stripes misaligned-data large-pages-for-single-rows dedicated-server-in-container forced-recovery no-adaptive-flushing low-mark-above-dirty-maximum throttled-checkpoints scans-displace-the-pool cold-pool-after-restart shutdown-like-a-crash rounded-up-buffer-pool overruled-dedicated-server lax-table-options tables-in-the-system-tablespace system-tablespace-with-an-end statistics-on-metadata-queries forgotten-statistics undo-truncation-without-tablespaces growing-undo-files table-locked-auto-increment interleaved-ids-in-statement-log dirty-reads corrupting-change-buffer free-page-waits starved-flushing long-undo-history small-doublewrite-batches fruitless-adaptive-hash-index undersized-io-capacity native-aio-off purge-lag-without-delay single-purge-thread undo-files-kept-large moved-files-unnoticed log-writers-switched-off compressed-pages-not-logged late-flushing pages-kept-free changes-delayed-for-purge few-page-cleaners serializable-by-default poor-statistics log-buffer-waits small-redo-log checkpoint-pressure overridden-redo-size narrow-write-ahead delayed-log-flush tiny-redo-log redo-log-beyond-buffer-pool pool-exceeds-memory memory-over-budget small-buffer-pool idle-buffer-pool swapped-server killed-for-memory pool-far-below-memory substituted-engine three-byte-unicode overruled-client-character-set implicit-timestamp-defaults exhaustive-join-search few-index-dives copying-alter-table changed-name-case temporary-tables-without-rollback statements-refused-by-limit ignored-auto-increment-offset writes-refused-by-default delayed-key-writes repair-without-copy no-myisam-repair periodic-table-close updates-behind-selects idle-key-buffer key-blocks-from-disk performance-schema-off every-statement-in-slow-log unused-slow-log-settings log-output-none unlimited-index-log warnings-not-logged status-in-error-log sampled-slow-log logs-in-tables slow-statements-not-recorded unknown-option ambiguous-option invalid-value missing-argument unexpected-argument adjusted-value removed-option deprecated-option ignored-option syntax-error option-outside-group duplicate-option server-option-in-client-group ignored-option-file include-problem file-differs-from-running unread-letters refused-start escaped-path unread-group named-time-zone encryption-without-keyring instances-share-place unclosed-value client-socket-elsewhere unknown-parameter unchangeable-parameter refused-parameter-value immediate-static-parameter parameter-without-effect parameter-at-wrong-level filter-list-in-one-name filtered-binary-log filter-by-default-database idempotent-replica lossy-replica-conversions unsupported-commit-order unordered-parallel-replica parallel-by-database replica-position-in-files relay-logs-never-purged tight-relay-log-limit half-switched-gtid-mode semi-sync-after-commit semi-sync-not-in-force stopped-replica replica-lag writable-replica replica-by-file-position replica-updates-not-logged commit-order-tracking unretried-replica-transactions slow-to-miss-its-source parallel-threads-without-work relay-logs-not-recovered relay-logs-out-of-room errant-transactions duplicate-server-id source-newer-than-replica writes-refused replica-updates-switched-off replication-without-tls auto-increment-near-end unkeyed-table-in-group unkeyed-table-in-galera unkeyed-table-in-row-log unreplicated-engine tables-without-transactions redundant-indexes no-access-control plaintext-secret world-readable-secret local-infile files-anywhere old-tls general-log native-passwords-kept old-passwords any-library-function followed-symlinks raw-log shown-replica-passwords any-proxy second-port-open server-as-root half-encrypted encryption-that-waits key-beside-data pool-in-core reports-home anonymous-account passwordless-account superuser-from-anywhere locked-out-account native-password-account server-writes-its-options grant-option-from-anywhere file-privilege-from-anywhere remote-account-without-tls account-of-unresolved-host data-in-memory data-in-container-layer data-on-network-file-system file-system-without-journal data-journalled-twice data-behind-its-journal synchronous-mount access-times-written nearly-full-file-system few-files-left read-only-file-system damaged-file-system copy-on-write-data degraded-array busy-array parity-array-under-writes loop-device-under-data lone-flush-on-spinning-disk discard-at-each-commit overcommitted-thin-pool data-in-temporary-directory unsynced-data-beside-redo unused-suppression malformed-suppression unexplained-suppression expired-suppression transparent-huge-pages limited-by-the-system fair-io-scheduler swappiness pool-beyond-memory-node throttled-processors fewer-threads-than-connections unused-huge-pages refused-large-pages saving-frequency-governor first-to-be-killed low-priority-server limited-file-size io-capacity-beyond-group slow-clock-source strict-memory-commit-limit large-dirty-page-limit zone-reclaim too-little-locked-memory-for-io-uring asynchronous-requests-used-up temptable-takes-much-memory unchecked-memory-nodes tiny-table-cache overflowing-table-cache overflowing-definition-cache open-files-near-limit tls-switched-off certificate-without-key weak-cipher required-but-not-offered unproved-certificate no-tls tls-that-failed expired-certificate certificate-expires-soon padded-temporary-tables temporary-tables-forced-to-disk starved-temporary-tables temporary-tables-too-large-for-disk memory-backed-temporary-files endless-temporary-tablespace temporary-tables-on-disk exhausted-temporary-memory temptable-limits-unused end-of-life newer-than-catalog older-than-catalog known-bad-release outdated-patch-release sorts-in-many-passes joins-without-index rows-read-by-scans changes-by-full-scan prepared-for-one-execution prepared-statements-near-limit statements-prepared-again sessions-waiting-for-rows frequent-deadlocks spilling-binary-log-cache spilling-statement-cache transaction-for-each-change table-lock-waits
}

_mycnf_families_and_rules() {
  compadd "$@" -- ARI BIN BLK BUF CON DUR ERR GAL GRO GRP HOU INN LOG MEM MOD MYI OBS OPT PAR REP SCH SEC STO SUP SYS TAB TLS TMP VER WRK ARI001 ARI002 ARI003 ARI004 ARI005 ARI006 BIN001 BIN002 BIN003 BIN004 BIN005 BIN006 BIN007 BIN008 BIN009 BIN010 BIN011 BIN012 BIN013 BIN014 BIN015 BIN016 BIN017 BIN018 BIN019 BIN020 BLK001 BLK002 BLK003 BLK004 BLK005 BLK006 BLK007 BLK008 BLK009 BLK010 BUF001 BUF002 BUF003 BUF004 BUF005 BUF006 BUF007 BUF008 BUF009 CON001 CON002 CON003 CON004 CON005 CON006 CON007 CON008 CON009 CON010 CON011 CON012 CON013 CON014 CON015 CON016 CON017 CON018 CON019 CON020 CON021 CON022 CON023 CON024 CON025 CON026 CON027 CON028 CON029 CON030 CON031 CON032 CON033 CON034 DUR001 DUR002 DUR003 DUR004 DUR005 DUR006 DUR007 DUR008 DUR009 DUR010 ERR001 ERR002 ERR003 ERR004 ERR005 ERR006 ERR007 ERR008 ERR009 ERR010 ERR011 ERR012 ERR013 ERR014 ERR015 ERR016 ERR017 ERR018 ERR019 ERR020 ERR021 ERR022 ERR023 GAL001 GAL002 GAL003 GAL004 GAL005 GAL006 GAL007 GAL008 GAL009 GAL010 GAL011 GAL012 GAL013 GAL014 GAL015 GAL016 GAL017 GAL018 GAL019 GAL020 GAL021 GAL022 GAL023 GAL024 GAL025 GAL026 GAL027 GAL028 GAL029 GRO001 GRO002 GRO003 GRO004 GRP001 GRP002 GRP003 GRP004 GRP005 GRP006 GRP007 GRP008 GRP009 GRP010 GRP011 GRP012 GRP013 GRP014 GRP015 GRP016 GRP017 HOU001 HOU002 HOU003 HOU004 HOU005 INN001 INN002 INN003 INN004 INN005 INN006 INN007 INN008 INN009 INN010 INN011 INN012 INN013 INN014 INN015 INN016 INN017 INN018 INN019 INN020 INN021 INN022 INN023 INN024 INN025 INN026 INN027 INN028 INN029 INN030 INN031 INN032 INN033 INN034 INN035 INN036 INN037 INN038 INN039 INN040 INN041 INN042 INN043 INN044 INN045 INN046 INN047 INN048 INN049 INN050 INN051 INN052 LOG001 LOG002 LOG003 LOG004 LOG005 LOG006 LOG007 LOG008 MEM001 MEM002 MEM003 MEM004 MEM005 MEM006 MEM007 MOD001 MOD002 MOD003 MOD004 MOD005 MOD006 MOD007 MOD008 MOD009 MOD010 MOD011 MOD012 MYI001 MYI002 MYI003 MYI004 MYI005 MYI006 MYI007 OBS001 OBS002 OBS003 OBS004 OBS005 OBS006 OBS007 OBS008 OBS009 OBS010 OPT001 OPT002 OPT003 OPT004 OPT005 OPT006 OPT007 OPT008 OPT009 OPT010 OPT011 OPT012 OPT013 OPT014 OPT015 OPT016 OPT017 OPT018 OPT019 OPT020 OPT021 OPT022 OPT023 OPT024 OPT025 PAR001 PAR002 PAR003 PAR004 PAR005 PAR006 REP001 REP002 REP003 REP004 REP005 REP006 REP007 REP008 REP009 REP010 REP011 REP012 REP013 REP014 REP015 REP016 REP017 REP018 REP019 REP020 REP021 REP022 REP023 REP024 REP025 REP026 REP027 REP028 REP029 REP030 REP031 SCH001 SCH002 SCH003 SCH004 SCH005 SCH006 SCH007 SEC001 SEC002 SEC003 SEC004 SEC005 SEC006 SEC007 SEC008 SEC009 SEC010 SEC011 SEC012 SEC013 SEC014 SEC015 SEC016 SEC017 SEC018 SEC019 SEC020 SEC021 SEC022 SEC023 SEC024 SEC025 SEC026 SEC027 SEC028 SEC029 SEC030 SEC031 STO001 STO002 STO003 STO004 STO005 STO006 STO007 STO008 STO009 STO010 STO011 STO012 STO013 STO014 STO015 STO016 STO017 STO018 STO019 STO020 STO021 STO030 SUP001 SUP002 SUP003 SUP004 SYS001 SYS002 SYS003 SYS004 SYS005 SYS006 SYS007 SYS008 SYS009 SYS010 SYS011 SYS012 SYS013 SYS014 SYS015 SYS016 SYS017 SYS018 SYS019 SYS030 SYS031 SYS032 TAB001 TAB002 TAB003 TAB004 TLS001 TLS002 TLS003 TLS004 TLS005 TLS006 TLS007 TLS008 TLS009 TMP001 TMP002 TMP003 TMP004 TMP005 TMP006 TMP007 TMP008 TMP009 VER001 VER002 VER003 VER004 VER005 WRK001 WRK002 WRK003 WRK004 WRK005 WRK006 WRK007 WRK008 WRK009 WRK010 WRK011 WRK012 WRK013 aria-logs-kept aria-checkpoints-off aria-checksums-off no-aria-repair idle-aria-page-cache aria-pages-from-disk binary-log-never-expires zero-server-id statement-based-log short-binary-log skipped-replication-errors binary-log-named-off purge-waits-for-replica tiny-binary-logs delayed-commits binary-log-switched-off unchecked-functions-in-statement-log innodb-binary-log-not-enabled innodb-binary-log-on-galera-node innodb-binary-log-with-semi-sync unencrypted-innodb-binary-log unused-by-innodb-binary-log innodb-binary-log-without-gtid small-transaction-limit overruled-binary-log-setting unlogged-after-write-error idle-session-blocks-rows statement-blocks-rows crowd-waits-for-rows metadata-lock-queue global-lock-blocks-sessions flush-waits-for-statement named-lock-queue transaction-left-open history-grows-behind-transaction prepared-transaction-left oversized-read-buffer pointless-read-buffer oversized-sort-buffer oversized-join-buffer oversized-read-rnd-buffer oversized-temporary-tables capped-temporary-tables query-cache rearmed-query-cache user-limit-without-effect small-thread-stack thread-cache-off uncached-host-names uncounted-connect-errors packet-below-dump replica-packet-below-statements spare-port-without-address unused-thread-pool starved-thread-pool idle-connections-cut interactive-timeout-alone no-lock-wait row-waits-for-hours slow-handshakes autocommit-off deadlocks-time-out connections-refused few-connections-left oversized-connection-limit threads-made-anew more-running-than-processors aborted-connects aborted-clients backlog-cut-by-kernel thread-pool-unlike-processors idle-processors-by-limit metadata-wait-for-days offline-mode short-network-timeouts hosts-blocked-early idle-sessions-kept failing-init-connect expiring-passwords lost-commits unsynced-binary-log no-doublewrite unsynced-data-files checksums-off file-system-without-barriers redo-log-disabled myisam-by-default lax-sql-mode data-files-without-sync server-crashed unclean-shutdown failed-start out-of-memory-logged threads-not-created long-semaphore-waits innodb-corruption-logged table-marked-as-crashed tablespace-missing-logged disk-full-logged read-only-file-system-logged redo-log-full-logged too-many-connections-logged access-denied-burst aborted-connections-burst replication-error-logged cluster-majority-lost disk-errors-logged logging-turned-off too-many-open-files-logged table-full-logged plugin-not-loaded system-tables-not-upgraded galera-half-configured galera-founds-itself-anew galera-without-quorum galera-not-in-rows galera-locks-auto-increment galera-logs-half galera-local-schema-changes galera-blocking-transfer galera-of-two-nodes refused-galera-timeout single-galera-applier small-galera-cache galera-without-certification-keys galera-non-primary galera-not-ready galera-desynced galera-flow-control galera-applier-blocked galera-slow-applier galera-conflicts galera-nodes-missing galera-node-outweighs-others galera-cache-for-minutes pxc-strict-mode-off galera-rejects-queries galera-transfer-without-account galera-transfer-without-script galera-unreachable-address galera-option-line-without-effect disk-full-soon binary-logs-outgrow-disk grown-undo-tablespaces grown-temporary-tablespaces group-founds-itself-anew group-needs-unmet multi-primary-without-checks group-without-flow-control unlimited-group-transactions group-that-survives-nothing member-outside-its-group writable-group-secondary mixed-group-versions group-applier-blocked group-member-behind long-member-expel-timeout expelled-members-stay-out group-exit-stops-server group-cache-exceeds-memory open-group-without-tls recovering-group-member missing-house-option forbidden-house-option below-house-minimum above-house-maximum value-outside-house-rules pointless-buffer-pool-instances many-buffer-pool-instances random-read-ahead wasted-read-ahead flush-neighbors-on-ssd oversized-io-capacity few-buffer-pool-instances io-capacity-above-its-maximum double-buffering page-across-stripes misaligned-data large-pages-for-single-rows dedicated-server-in-container forced-recovery no-adaptive-flushing low-mark-above-dirty-maximum throttled-checkpoints scans-displace-the-pool cold-pool-after-restart shutdown-like-a-crash rounded-up-buffer-pool overruled-dedicated-server lax-table-options tables-in-the-system-tablespace system-tablespace-with-an-end statistics-on-metadata-queries forgotten-statistics undo-truncation-without-tablespaces growing-undo-files table-locked-auto-increment interleaved-ids-in-statement-log dirty-reads corrupting-change-buffer free-page-waits starved-flushing long-undo-history small-doublewrite-batches fruitless-adaptive-hash-index undersized-io-capacity native-aio-off purge-lag-without-delay single-purge-thread undo-files-kept-large moved-files-unnoticed log-writers-switched-off compressed-pages-not-logged late-flushing pages-kept-free changes-delayed-for-purge few-page-cleaners serializable-by-default poor-statistics log-buffer-waits small-redo-log checkpoint-pressure overridden-redo-size narrow-write-ahead delayed-log-flush tiny-redo-log redo-log-beyond-buffer-pool pool-exceeds-memory memory-over-budget small-buffer-pool idle-buffer-pool swapped-server killed-for-memory pool-far-below-memory substituted-engine three-byte-unicode overruled-client-character-set implicit-timestamp-defaults exhaustive-join-search few-index-dives copying-alter-table changed-name-case temporary-tables-without-rollback statements-refused-by-limit ignored-auto-increment-offset writes-refused-by-default delayed-key-writes repair-without-copy no-myisam-repair periodic-table-close updates-behind-selects idle-key-buffer key-blocks-from-disk performance-schema-off every-statement-in-slow-log unused-slow-log-settings log-output-none unlimited-index-log warnings-not-logged status-in-error-log sampled-slow-log logs-in-tables slow-statements-not-recorded unknown-option ambiguous-option invalid-value missing-argument unexpected-argument adjusted-value removed-option deprecated-option ignored-option syntax-error option-outside-group duplicate-option server-option-in-client-group ignored-option-file include-problem file-differs-from-running unread-letters refused-start escaped-path unread-group named-time-zone encryption-without-keyring instances-share-place unclosed-value client-socket-elsewhere unknown-parameter unchangeable-parameter refused-parameter-value immediate-static-parameter parameter-without-effect parameter-at-wrong-level filter-list-in-one-name filtered-binary-log filter-by-default-database idempotent-replica lossy-replica-conversions unsupported-commit-order unordered-parallel-replica parallel-by-database replica-position-in-files relay-logs-never-purged tight-relay-log-limit half-switched-gtid-mode semi-sync-after-commit semi-sync-not-in-force stopped-replica replica-lag writable-replica replica-by-file-position replica-updates-not-logged commit-order-tracking unretried-replica-transactions slow-to-miss-its-source parallel-threads-without-work relay-logs-not-recovered relay-logs-out-of-room errant-transactions duplicate-server-id source-newer-than-replica writes-refused replica-updates-switched-off replication-without-tls auto-increment-near-end unkeyed-table-in-group unkeyed-table-in-galera unkeyed-table-in-row-log unreplicated-engine tables-without-transactions redundant-indexes no-access-control plaintext-secret world-readable-secret local-infile files-anywhere old-tls general-log native-passwords-kept old-passwords any-library-function followed-symlinks raw-log shown-replica-passwords any-proxy second-port-open server-as-root half-encrypted encryption-that-waits key-beside-data pool-in-core reports-home anonymous-account passwordless-account superuser-from-anywhere locked-out-account native-password-account server-writes-its-options grant-option-from-anywhere file-privilege-from-anywhere remote-account-without-tls account-of-unresolved-host data-in-memory data-in-container-layer data-on-network-file-system file-system-without-journal data-journalled-twice data-behind-its-journal synchronous-mount access-times-written nearly-full-file-system few-files-left read-only-file-system damaged-file-system copy-on-write-data degraded-array busy-array parity-array-under-writes loop-device-under-data lone-flush-on-spinning-disk discard-at-each-commit overcommitted-thin-pool data-in-temporary-directory unsynced-data-beside-redo unused-suppression malformed-suppression unexplained-suppression expired-suppression transparent-huge-pages limited-by-the-system fair-io-scheduler swappiness pool-beyond-memory-node throttled-processors fewer-threads-than-connections unused-huge-pages refused-large-pages saving-frequency-governor first-to-be-killed low-priority-server limited-file-size io-capacity-beyond-group slow-clock-source strict-memory-commit-limit large-dirty-page-limit zone-reclaim too-little-locked-memory-for-io-uring asynchronous-requests-used-up temptable-takes-much-memory unchecked-memory-nodes tiny-table-cache overflowing-table-cache overflowing-definition-cache open-files-near-limit tls-switched-off certificate-without-key weak-cipher required-but-not-offered unproved-certificate no-tls tls-that-failed expired-certificate certificate-expires-soon padded-temporary-tables temporary-tables-forced-to-disk starved-temporary-tables temporary-tables-too-large-for-disk memory-backed-temporary-files endless-temporary-tablespace temporary-tables-on-disk exhausted-temporary-memory temptable-limits-unused end-of-life newer-than-catalog older-than-catalog known-bad-release outdated-patch-release sorts-in-many-passes joins-without-index rows-read-by-scans changes-by-full-scan prepared-for-one-execution prepared-statements-near-limit statements-prepared-again sessions-waiting-for-rows frequent-deadlocks spilling-binary-log-cache spilling-statement-cache transaction-for-each-change table-lock-waits
}

_mycnf_sides() {
  _alternative 'targets:target:_mycnf_targets' 'files:file:_files'
}

_mycnf_proofs() {
  _alternative 'rules:rule:_mycnf_rules' 'files:file:_files'
}

_mycnf_commands() {
  local -a commands=(
    'lint:check option files, offline'
    'show:the effective value of each option, and where it came from'
    'upgrade:what another version or flavour would refuse, change or ignore'
    'audit:check a running server, its host and its option files, with evidence'
    'preflight:what the next restart of a server would refuse, lose or change'
    'diff:compare any two of\: option file, running server, snapshot, a version'\''s defaults'
    'collect:save the facts that an audit reads as a snapshot'
    'report:the findings of one snapshot or of many, in any format'
    'history:what changed between saved snapshots'
    'sample:save one sample of a server'\''s counters, for cron or a timer'
    'probe:repeat published experiments on this host, and save the results'
    'fleet:audit many servers at once, through an Ansible inventory'
    'suggest:write an option file for a host and a workload, each line with its reason'
    'explain:explain a rule or an option, with the evidence'
    'rules:list every rule, with what it needs'
    'grants:print the statements for a least-privileged audit account'
    'completion:print the completion script for bash, zsh or fish'
  )
  _describe command commands
}

_mycnf-lint() {
  _arguments -s : \
    '(-h --help)'{-h,--help}'[show this help message and exit]' \
    '*--target=''[server version to check for, such as mysql-8.4 or mariadb-10.11 (repeatable)]:T:_mycnf_targets' \
    '--platform=''[platform of the server (default\: by the paths in the file)]:platform:(linux windows macos)' \
    '--stdin-filename=''[file name to report for stdin]:NAME: ' \
    '--fix''[apply the fixes that don'\''t change what the server does]' \
    '--unsafe-fixes''[--fix, and fixes that may change what the server does]' \
    '--diff''[print the changes of --fix as a diff, and write nothing]' \
    '--statistics''[count findings by rule instead of listing them]' \
    '--exit-zero''[exit 0 even with findings]' \
    '--parameters=''[check ranges with a provider'\''s list of parameters in JSON (describe-engine-default-parameters)]:FILE:_files' \
    '--root=''[read absolute !include paths below DIR]:DIR:_files -/' \
    '--config=''[the configuration file (default\: the closest mycnf.toml)]:FILE:_files' \
    '--isolated''[use no configuration file and no baseline]' \
    '*--select=''[only these codes, names or families (comma-separated)]:RULES:_sequence _mycnf_families_and_rules' \
    '*--ignore=''[all but these codes, names or families]:RULES:_sequence _mycnf_families_and_rules' \
    '--fail-on=''[exit 1 from this severity up (default\: warning)]:fail_on:(error warning note never)' \
    '--baseline=''[suppress the findings in this baseline, each until the date in its reason, if there is one]:FILE:_files' \
    '--write-baseline=''[write the current findings as a baseline]:FILE:_files' \
    '*--format=''[output format (default\: text; repeatable, each with its own -o)]:reports:(text concise json jsonl csv sarif github gitlab junit markdown)' \
    '*'{-o+,--output=}'[write to FILE instead of stdout]:FILE:_files' \
    '--ram=''[the server'\''s memory, such as 64G, if it can'\''t be read]:SIZE: ' \
    '--cpus=''[the server'\''s processors, if they can'\''t be read]:N: ' \
    '*--instance-class=''[the memory and processors of an instance class of Amazon RDS, such as db.r6g.2xlarge]:CLASS: ' \
    '--disk=''[the kind of disk, if it can'\''t be read]:disk:(hdd ssd nvme)' \
    '--host-tar=''[a tar of the server'\''s /proc and /sys]:TAR:_files' \
    '*:FILE:_files'
}

_mycnf-show() {
  _arguments -s : \
    '(-h --help)'{-h,--help}'[show this help message and exit]' \
    '--target=''[server version to answer for]:T:_mycnf_targets' \
    '--platform=''[platform of the server (default\: by the paths in the file)]:platform:(linux windows macos)' \
    '*--set=''[only this set of options by name, if a document contains several]:NAME: ' \
    '--ram=''[the server'\''s memory, such as 64G, if it can'\''t be read]:SIZE: ' \
    '--cpus=''[the server'\''s processors, if they can'\''t be read]:N: ' \
    '*--instance-class=''[the memory and processors of an instance class of Amazon RDS, such as db.r6g.2xlarge]:CLASS: ' \
    '--format=''[output format (default\: text)]:format:(text json)' \
    '(-o --output)'{-o+,--output=}'[write to FILE instead of stdout]:FILE:_files' \
    '--root=''[read absolute !include paths below DIR]:DIR:_files -/' \
    '--config=''[the configuration file (default\: the closest mycnf.toml)]:FILE:_files' \
    '--isolated''[use no configuration file and no baseline]' \
    '*:FILE:_files'
}

_mycnf-upgrade() {
  _arguments -s : \
    '(-h --help)'{-h,--help}'[show this help message and exit]' \
    '--from=''[the server version that reads the files now, such as mysql-5.7]:T:_mycnf_targets' \
    '--to=''[the server version that will read them]:T:_mycnf_targets' \
    '--platform=''[platform of the server (default\: by the paths in the file)]:platform:(linux windows macos)' \
    '--all''[also list changed defaults of little importance]' \
    '--keep-lines''[print the lines that keep the old defaults, as a \[mysqld\] group to paste, each with its reason]' \
    '--fail-on=''[exit 1 from this severity up (default\: error, a line at which the server stops)]:fail_on:(error warning note never)' \
    '*--set=''[the set of options by name, if a document contains several]:NAME: ' \
    '--format=''[output format (default\: text)]:format:(text json markdown html)' \
    '(-o --output)'{-o+,--output=}'[write to FILE instead of stdout]:FILE:_files' \
    '--root=''[read absolute !include paths below DIR]:DIR:_files -/' \
    '--config=''[the configuration file (default\: the closest mycnf.toml)]:FILE:_files' \
    '--isolated''[use no configuration file and no baseline]' \
    '*:FILE:_files'
}

_mycnf-audit() {
  _arguments -s : \
    '(-h --help)'{-h,--help}'[show this help message and exit]' \
    '--snapshot=''[audit saved facts instead of a running server]:SNAP:_files' \
    '*--from''[audit texts\: of SHOW GLOBAL VARIABLES, STATUS and REPLICA STATUS, pt-mysql-summary, pt-summary, or pt-stalk'\''s directory]:FILE:_files' \
    '--since=''[compare with this earlier snapshot\: findings resolved, new and remaining]:SNAP:_files' \
    '--keep''[save a snapshot for mycnf history too (100 per server, readable by its owner only)]' \
    '--demo''[audit a recorded server, to try mycnf]' \
    '--list-statements''[print every statement that mycnf can send, and exit]' \
    '--window=''[time between the two samples of counters (default\: 10; 0\: none)]:SECONDS: ' \
    '--schema''[also examine the tables'\'' definitions\: AUTO_INCREMENT, primary keys, engines, redundant indexes]' \
    '--schema-time=''[time limit for --schema (default\: 5); the report lists what was skipped]:SECONDS: ' \
    '--schema-tables=''[maximum number of tables that MySQL 5.7 and MariaDB open for --schema (default\: 1000); MySQL 8.0 opens none]:N: ' \
    '(-S --socket)'{-S+,--socket=}'[the server'\''s Unix socket]:PATH:_files' \
    '--host=''[connect by TCP to this host]:NAME: ' \
    '(-P --port)'{-P+,--port=}'[TCP port (default\: 3306)]:N: ' \
    '(-u --user)'{-u+,--user=}'[the account; the password comes from option files or --ask-password]:NAME: ' \
    '--ask-password''[ask for the password on the terminal]' \
    '--defaults-file=''[read connection options from this file only]:FILE:_files' \
    '--defaults-extra-file=''[read connection options from this file as well]:FILE:_files' \
    '--defaults-group-suffix=''[read groups with this suffix too]:TEXT: ' \
    '--login-path=''[read this login path of ~/.mylogin.cnf]:NAME: ' \
    '--ssl-mode=''[use of TLS (default\: preferred)]:ssl_mode:(disabled preferred required verify-ca verify-identity)' \
    '--ssl-ca=''[certificate authority to trust]:FILE:_files' \
    '--ssl-cert=''[client certificate]:FILE:_files' \
    '--ssl-key=''[key of the client certificate]:FILE:_files' \
    '*--select=''[only these codes, names or families (comma-separated)]:RULES:_sequence _mycnf_families_and_rules' \
    '*--ignore=''[all but these codes, names or families]:RULES:_sequence _mycnf_families_and_rules' \
    '--fail-on=''[exit 1 from this severity up (default\: error)]:fail_on:(error warning note never)' \
    '--config=''[the configuration file (default\: the closest mycnf.toml)]:FILE:_files' \
    '--isolated''[use no configuration file and no baseline]' \
    '--baseline=''[suppress the findings in this baseline, each until the date in its reason, if there is one]:FILE:_files' \
    '--write-baseline=''[write the current findings as a baseline]:FILE:_files' \
    '--format=''[output format (default\: the app on a terminal, text otherwise)]:format:(text concise json jsonl csv sarif junit markdown html prometheus)' \
    '(-o --output)'{-o+,--output=}'[write to FILE instead of stdout]:FILE:_files' \
    '--no-mouse''[don'\''t use the mouse in the app]' \
    '--ram=''[the server'\''s memory, such as 64G, if it can'\''t be read]:SIZE: ' \
    '--cpus=''[the server'\''s processors, if they can'\''t be read]:N: ' \
    '*--instance-class=''[the memory and processors of an instance class of Amazon RDS, such as db.r6g.2xlarge]:CLASS: ' \
    '--disk=''[the kind of disk, if it can'\''t be read]:disk:(hdd ssd nvme)' \
    '--host-tar=''[a tar of the server'\''s /proc and /sys]:TAR:_files'
}

_mycnf-preflight() {
  _arguments -s : \
    '(-h --help)'{-h,--help}'[show this help message and exit]' \
    '--snapshot=''[check saved facts instead of a running server]:SNAP:_files' \
    '--root=''[read option files and service below DIR, such as a copy of /etc to be deployed]:DIR:_files -/' \
    '--service=''[the systemd unit that starts the server (default\: its own)]:UNIT: ' \
    '(-S --socket)'{-S+,--socket=}'[the server'\''s Unix socket]:PATH:_files' \
    '--host=''[connect by TCP to this host]:NAME: ' \
    '(-P --port)'{-P+,--port=}'[TCP port (default\: 3306)]:N: ' \
    '(-u --user)'{-u+,--user=}'[the account; the password comes from option files or --ask-password]:NAME: ' \
    '--ask-password''[ask for the password on the terminal]' \
    '--defaults-file=''[read connection options from this file only]:FILE:_files' \
    '--defaults-extra-file=''[read connection options from this file as well]:FILE:_files' \
    '--defaults-group-suffix=''[read groups with this suffix too]:TEXT: ' \
    '--login-path=''[read this login path of ~/.mylogin.cnf]:NAME: ' \
    '--ssl-mode=''[use of TLS (default\: preferred)]:ssl_mode:(disabled preferred required verify-ca verify-identity)' \
    '--ssl-ca=''[certificate authority to trust]:FILE:_files' \
    '--ssl-cert=''[client certificate]:FILE:_files' \
    '--ssl-key=''[key of the client certificate]:FILE:_files' \
    '--fail-on=''[exit 1 from this severity up (default\: note, anything)]:fail_on:(error warning note never)' \
    '--format=''[output format (default\: text)]:format:(text json markdown html)' \
    '(-o --output)'{-o+,--output=}'[write to FILE instead of stdout]:FILE:_files'
}

_mycnf-diff() {
  _arguments -s : \
    '(-h --help)'{-h,--help}'[show this help message and exit]' \
    '*--target=''[server version that reads the file (default\: the other side'\''s; give it twice for two files)]:T:_mycnf_targets' \
    '*--only=''[only these variables, such as '\''innodb_*'\'']:PATTERN: ' \
    '*--ignore=''[all but these variables]:PATTERN: ' \
    '--all''[count differences expected between any two servers too, and print values in full]' \
    '*--set=''[the set of options (twice\: that of A, that of B) by name, if a document contains several]:NAME: ' \
    '--ram=''[the server'\''s memory, such as 64G, if it can'\''t be read]:SIZE: ' \
    '--cpus=''[the server'\''s processors, if they can'\''t be read]:N: ' \
    '*--instance-class=''[the memory and processors of an instance class of Amazon RDS, such as db.r6g.2xlarge]:CLASS: ' \
    '--format=''[output format (default\: text)]:format:(text json markdown html)' \
    '(-o --output)'{-o+,--output=}'[write to FILE instead of stdout]:FILE:_files' \
    '--root=''[read absolute !include paths below DIR]:DIR:_files -/' \
    '--config=''[the configuration file (default\: the closest mycnf.toml)]:FILE:_files' \
    '--isolated''[use no configuration file and no baseline]' \
    '(-S --socket)'{-S+,--socket=}'[the server'\''s Unix socket]:PATH:_files' \
    '--host=''[connect by TCP to this host]:NAME: ' \
    '(-P --port)'{-P+,--port=}'[TCP port (default\: 3306)]:N: ' \
    '(-u --user)'{-u+,--user=}'[the account; the password comes from option files or --ask-password]:NAME: ' \
    '--ask-password''[ask for the password on the terminal]' \
    '--defaults-file=''[read connection options from this file only]:FILE:_files' \
    '--defaults-extra-file=''[read connection options from this file as well]:FILE:_files' \
    '--defaults-group-suffix=''[read groups with this suffix too]:TEXT: ' \
    '--login-path=''[read this login path of ~/.mylogin.cnf]:NAME: ' \
    '--ssl-mode=''[use of TLS (default\: preferred)]:ssl_mode:(disabled preferred required verify-ca verify-identity)' \
    '--ssl-ca=''[certificate authority to trust]:FILE:_files' \
    '--ssl-cert=''[client certificate]:FILE:_files' \
    '--ssl-key=''[key of the client certificate]:FILE:_files' \
    '1:A:_mycnf_sides' \
    '2:B:_mycnf_sides'
}

_mycnf-collect() {
  _arguments -s : \
    '(-h --help)'{-h,--help}'[show this help message and exit]' \
    '(-o --output)'{-o+,--output=}'[the snapshot to write (mode 0600), or - for stdout; needed without --keep]:SNAP:_files' \
    '--keep''[save a snapshot for mycnf history too (100 per server, readable by its owner only)]' \
    '--window=''[time between the two samples of counters (default\: 10; 0\: none)]:SECONDS: ' \
    '--schema''[also examine the tables'\'' definitions\: AUTO_INCREMENT, primary keys, engines, redundant indexes]' \
    '--schema-time=''[time limit for --schema (default\: 5); the report lists what was skipped]:SECONDS: ' \
    '--schema-tables=''[maximum number of tables that MySQL 5.7 and MariaDB open for --schema (default\: 1000); MySQL 8.0 opens none]:N: ' \
    '(-S --socket)'{-S+,--socket=}'[the server'\''s Unix socket]:PATH:_files' \
    '--host=''[connect by TCP to this host]:NAME: ' \
    '(-P --port)'{-P+,--port=}'[TCP port (default\: 3306)]:N: ' \
    '(-u --user)'{-u+,--user=}'[the account; the password comes from option files or --ask-password]:NAME: ' \
    '--ask-password''[ask for the password on the terminal]' \
    '--defaults-file=''[read connection options from this file only]:FILE:_files' \
    '--defaults-extra-file=''[read connection options from this file as well]:FILE:_files' \
    '--defaults-group-suffix=''[read groups with this suffix too]:TEXT: ' \
    '--login-path=''[read this login path of ~/.mylogin.cnf]:NAME: ' \
    '--ssl-mode=''[use of TLS (default\: preferred)]:ssl_mode:(disabled preferred required verify-ca verify-identity)' \
    '--ssl-ca=''[certificate authority to trust]:FILE:_files' \
    '--ssl-cert=''[client certificate]:FILE:_files' \
    '--ssl-key=''[key of the client certificate]:FILE:_files' \
    '--ram=''[the server'\''s memory, such as 64G, if it can'\''t be read]:SIZE: ' \
    '--cpus=''[the server'\''s processors, if they can'\''t be read]:N: ' \
    '*--instance-class=''[the memory and processors of an instance class of Amazon RDS, such as db.r6g.2xlarge]:CLASS: ' \
    '--disk=''[the kind of disk, if it can'\''t be read]:disk:(hdd ssd nvme)' \
    '--host-tar=''[a tar of the server'\''s /proc and /sys]:TAR:_files'
}

_mycnf-report() {
  _arguments -s : \
    '(-h --help)'{-h,--help}'[show this help message and exit]' \
    '*--select=''[only these codes, names or families (comma-separated)]:RULES:_sequence _mycnf_families_and_rules' \
    '*--ignore=''[all but these codes, names or families]:RULES:_sequence _mycnf_families_and_rules' \
    '--fail-on=''[exit 1 from this severity up (default\: error)]:fail_on:(error warning note never)' \
    '--config=''[the configuration file (default\: the closest mycnf.toml)]:FILE:_files' \
    '--isolated''[use no configuration file and no baseline]' \
    '--baseline=''[suppress the findings in this baseline]:FILE:_files' \
    '--since=''[compare one snapshot with this earlier one\: what is gone, still there and new]:SNAP:_files' \
    '--jobs=''[processes that check many snapshots (default\: one per processor)]:N: ' \
    '*--format=''[output format (default\: text; repeatable, each with its own -o)]:reports:(text concise json jsonl csv sarif junit markdown html prometheus parquet)' \
    '*'{-o+,--output=}'[write to FILE instead of stdout]:FILE:_files' \
    '--ram=''[the server'\''s memory, such as 64G, if it can'\''t be read]:SIZE: ' \
    '--cpus=''[the server'\''s processors, if they can'\''t be read]:N: ' \
    '*--instance-class=''[the memory and processors of an instance class of Amazon RDS, such as db.r6g.2xlarge]:CLASS: ' \
    '--disk=''[the kind of disk, if it can'\''t be read]:disk:(hdd ssd nvme)' \
    '--host-tar=''[a tar of the server'\''s /proc and /sys]:TAR:_files' \
    '*:SNAP:_files'
}

_mycnf-history() {
  _arguments -s : \
    '(-h --help)'{-h,--help}'[show this help message and exit]' \
    '--last=''[number of changes, newest first (default\: 10)]:N: ' \
    '*--select=''[only these codes, names or families]:RULES:_sequence _mycnf_families_and_rules' \
    '*--ignore=''[all but these codes, names or families]:RULES:_sequence _mycnf_families_and_rules' \
    '--format=''[output format (default\: text)]:format:(text json markdown html)' \
    '(-o --output)'{-o+,--output=}'[write to FILE instead of stdout]:FILE:_files' \
    '--config=''[the configuration file (default\: the closest mycnf.toml)]:FILE:_files' \
    '--isolated''[use no configuration file and no baseline]' \
    '*:SERVER: '
}

_mycnf-sample() {
  _arguments -s : \
    '(-h --help)'{-h,--help}'[show this help message and exit]' \
    '--list''[the servers that were sampled, with their busiest hours]' \
    '--print-timer''[print a cron line and systemd units that run it, and exit]' \
    '(-S --socket)'{-S+,--socket=}'[the server'\''s Unix socket]:PATH:_files' \
    '--host=''[connect by TCP to this host]:NAME: ' \
    '(-P --port)'{-P+,--port=}'[TCP port (default\: 3306)]:N: ' \
    '(-u --user)'{-u+,--user=}'[the account; the password comes from option files or --ask-password]:NAME: ' \
    '--ask-password''[ask for the password on the terminal]' \
    '--defaults-file=''[read connection options from this file only]:FILE:_files' \
    '--defaults-extra-file=''[read connection options from this file as well]:FILE:_files' \
    '--defaults-group-suffix=''[read groups with this suffix too]:TEXT: ' \
    '--login-path=''[read this login path of ~/.mylogin.cnf]:NAME: ' \
    '--ssl-mode=''[use of TLS (default\: preferred)]:ssl_mode:(disabled preferred required verify-ca verify-identity)' \
    '--ssl-ca=''[certificate authority to trust]:FILE:_files' \
    '--ssl-cert=''[client certificate]:FILE:_files' \
    '--ssl-key=''[key of the client certificate]:FILE:_files'
}

_mycnf-probe() {
  _arguments -s : \
    '(-h --help)'{-h,--help}'[show this help message and exit]' \
    '--describe''[describe the question, the evidence and the limits of the probe]' \
    '--dry-run''[print what it would create and how long it takes, and exit]' \
    '--time=''[how long to measure\: 60s, 10m, 3h (not including preparation)]:TIME: ' \
    '--rounds=''[number of rounds for each variant]:N: ' \
    '--resume''[resume the saved run of the same parameters]' \
    '--dir=''[a directory on the file system to measure (default\: that of the data directory)]:DIR:_files -/' \
    '*'{--server=,--target=}'[the server program to start, or its target (default\: this host'\''s own; repeatable where two are compared)]:PROGRAM:_mycnf_sides' \
    '*--option=''[a parameter of the probe (repeatable)]:NAME=VALUE: ' \
    '--set=''[the option and the values that ab compares]:OPTION=A,B: ' \
    '--workload=''[the load, such as oltp_read_write]:NAME: ' \
    '--acceptable-qps=''[lowest acceptable queries per second (cache-fit)]:N: ' \
    '*--force=''[run despite this refusal (repeatable)]:REFUSAL: ' \
    '--seed=''[seed for the order of the variants (default\: random)]:N: ' \
    '--json''[the same as --format json]' \
    '*--format=''[output format (default\: text; repeatable, each with its own -o)]:reports:(text json markdown html svg)' \
    '*'{-o+,--output=}'[write to FILE instead of stdout]:FILE:_files' \
    '1::NAME:(commit-latency random-read random-write sequential-read memory-latency memory-bandwidth read-buffer buffer-pool-instances read-ahead file-system range-scan cache-fit commit redo-capacity pool-size io-capacity doublewrite session-buffers connections malloc ab prove results)' \
    '*:WORD:_mycnf_proofs'
}

_mycnf-fleet() {
  _arguments -s : \
    '(-h --help)'{-h,--help}'[show this help message and exit]' \
    '*'{-i+,--inventory=}'[Ansible inventory\: a file, a directory or host,host (repeatable; default\: that of ansible.cfg)]:FILE:_files' \
    '(-l --limit)'{-l+,--limit=}'[only these hosts and groups, as an Ansible pattern]:PATTERN: ' \
    '(-f --forks)'{-f+,--forks=}'[hosts at a time (default\: Ansible'\''s own setting)]:N: ' \
    '--timeout=''[time limit for each host (default\: 60)]:SECONDS: ' \
    '--dir=''[the run'\''s directory (default\: a new one below ~/.local/state/mycnf)]:DIR:_files -/' \
    '--resume''[resume the run in --dir\: read only the hosts that are missing]' \
    '--from=''[report on the run saved in DIR, without contacting any host]:DIR:_files -/' \
    '*--vault-id=''[passed to Ansible (repeatable)]:ID: ' \
    '*--vault-password-file=''[passed to Ansible (repeatable)]:FILE:_files' \
    '--ask-vault-password''[let Ansible ask for the vault password]' \
    '--window=''[time between the two samples of counters (default\: 10; 0\: none)]:SECONDS: ' \
    '*--select=''[only these codes, names or families (comma-separated)]:RULES:_sequence _mycnf_families_and_rules' \
    '*--ignore=''[all but these codes, names or families]:RULES:_sequence _mycnf_families_and_rules' \
    '--fail-on=''[exit 1 from this severity up (default\: error)]:fail_on:(error warning note never)' \
    '--config=''[the configuration file (default\: the closest mycnf.toml)]:FILE:_files' \
    '--isolated''[use no configuration file and no baseline]' \
    '--format=''[output format (default\: text)]:format:(text json markdown html)' \
    '(-o --output)'{-o+,--output=}'[write to FILE instead of stdout]:FILE:_files'
}

_mycnf-suggest() {
  _arguments -s : \
    '(-h --help)'{-h,--help}'[show this help message and exit]' \
    '--target=''[server version that the file is for (default\: the newest MySQL)]:T:_mycnf_targets' \
    '--workload=''[workload of the server (default\: mixed)]:workload:(oltp mixed analytic dev)' \
    '--ram=''[the server'\''s memory, such as 64G, if it can'\''t be read]:SIZE: ' \
    '--cpus=''[the server'\''s processors, if they can'\''t be read]:N: ' \
    '*--instance-class=''[the memory and processors of an instance class of Amazon RDS, such as db.r6g.2xlarge]:CLASS: ' \
    '--disk=''[the kind of disk, if it can'\''t be read]:disk:(hdd ssd nvme)' \
    '--host-tar=''[a tar of the server'\''s /proc and /sys]:TAR:_files' \
    '--write-diff=''[print the changes to this option file as a diff]:FILE:_files' \
    '--config=''[the configuration file (default\: the closest mycnf.toml)]:FILE:_files' \
    '--isolated''[use no configuration file and no baseline]' \
    '--format=''[output format (default\: text)]:format:(text json terraform cloudformation aws k8s)' \
    '(-o --output)'{-o+,--output=}'[write to FILE instead of stdout]:FILE:_files'
}

_mycnf-explain() {
  _arguments -s : \
    '(-h --help)'{-h,--help}'[show this help message and exit]' \
    '--target=''[server version to answer for, and to compare the evidence with]:T:_mycnf_targets' \
    '--ram=''[the server'\''s memory, such as 64G, if it can'\''t be read]:SIZE: ' \
    '--cpus=''[the server'\''s processors, if they can'\''t be read]:N: ' \
    '*--instance-class=''[the memory and processors of an instance class of Amazon RDS, such as db.r6g.2xlarge]:CLASS: ' \
    '--disk=''[the kind of disk, if it can'\''t be read]:disk:(hdd ssd nvme)' \
    '--host-tar=''[a tar of the server'\''s /proc and /sys]:TAR:_files' \
    '--format=''[output format (default\: text)]:format:(text json markdown html)' \
    '(-o --output)'{-o+,--output=}'[write to FILE instead of stdout]:FILE:_files' \
    '1:CODE|OPTION:_mycnf_rules'
}

_mycnf-rules() {
  _arguments -s : \
    '(-h --help)'{-h,--help}'[show this help message and exit]' \
    '--format=''[output format (default\: text)]:format:(text json markdown)' \
    '(-o --output)'{-o+,--output=}'[write to FILE instead of stdout]:FILE:_files'
}

_mycnf-grants() {
  _arguments -s : \
    '(-h --help)'{-h,--help}'[show this help message and exit]' \
    '--target=''[server version that the account is for]:T:_mycnf_targets' \
    '--schema''[also the privileges for mycnf audit --schema]'
}

_mycnf-completion() {
  _arguments -s : \
    '(-h --help)'{-h,--help}'[show this help message and exit]' \
    '1:SHELL:(bash zsh fish)'
}

_mycnf() {
  local curcontext=$curcontext state line ret=1
  _arguments -C \
    '(- : *)'{-h,--help}'[show the help and exit]' \
    '(- : *)--version[show the version and exit]' \
    '1: :_mycnf_commands' \
    '*:: :->words' && ret=0
  if [[ $state == words ]]; then
    curcontext=${curcontext%:*:*}:mycnf-$line[1]:
    case $line[1] in
      lint|show|upgrade|audit|preflight|diff|collect|report|history|sample|probe|fleet|suggest|explain|rules|grants|completion) _mycnf-$line[1] && ret=0 ;;
    esac
  fi
  return ret
}

if [[ $funcstack[1] == _mycnf ]]; then
  _mycnf "$@"
else
  compdef _mycnf mycnf
fi

# fish completion for mycnf, made from the program's own parser by `make docs`.

function __mycnf_first
    test (count (commandline -opc)) -eq 1
end

function __mycnf_in
    set -l words (commandline -opc)
    test (count $words) -gt 1; and test $words[2] = $argv[1]
end

function __mycnf_without
    set -l words (commandline -opc)
    for word in $argv
        contains -- $word $words[3..-1]; and return 1
    end
    return 0
end

function __mycnf_targets
    printf '%s\n' mysql-5.7 mysql-8.0 mysql-8.4 mysql-9.7 mariadb-10.6 mariadb-10.11 mariadb-11.4 mariadb-11.8 mariadb-12.3 mysql-enterprise-5.7 mysql-enterprise-8.0 mysql-enterprise-8.4 mysql-enterprise-9.7 percona-5.7 percona-8.0 percona-8.4 pxc-5.7 pxc-8.0 pxc-8.4
end

function __mycnf_rules
    printf '%s\n' ARI001 ARI002 ARI003 ARI004 ARI005 ARI006 BIN001 BIN002 BIN003 BIN004 BIN005 BIN006 BIN007 BIN008 BIN009 BIN010 BIN011 BIN012 BIN013 BIN014 BIN015 BIN016 BIN017 BIN018 BIN019 BIN020 BLK001 BLK002 BLK003 BLK004 BLK005 BLK006 BLK007 BLK008 BLK009 BLK010 BUF001 BUF002 BUF003 BUF004 BUF005 BUF006 BUF007 BUF008 BUF009 CON001 CON002 CON003 CON004 CON005 CON006 CON007 CON008 CON009 CON010 CON011 CON012 CON013 CON014 CON015 CON016 CON017 CON018 CON019 CON020 CON021 CON022 CON023 CON024 CON025 CON026 CON027 CON028 CON029 CON030 CON031 CON032 CON033 CON034 DUR001 DUR002 DUR003 DUR004 DUR005 DUR006 DUR007 DUR008 DUR009 DUR010 ERR001 ERR002 ERR003 ERR004 ERR005 ERR006 ERR007 ERR008 ERR009 ERR010 ERR011 ERR012 ERR013 ERR014 ERR015 ERR016 ERR017 ERR018 ERR019 ERR020 ERR021 ERR022 ERR023 GAL001 GAL002 GAL003 GAL004 GAL005 GAL006 GAL007 GAL008 GAL009 GAL010 GAL011 GAL012 GAL013 GAL014 GAL015 GAL016 GAL017 GAL018 GAL019 GAL020 GAL021 GAL022 GAL023 GAL024 GAL025 GAL026 GAL027 GAL028 GAL029 GRO001 GRO002 GRO003 GRO004 GRP001 GRP002 GRP003 GRP004 GRP005 GRP006 GRP007 GRP008 GRP009 GRP010 GRP011 GRP012 GRP013 GRP014 GRP015 GRP016 GRP017 HOU001 HOU002 HOU003 HOU004 HOU005 INN001 INN002 INN003 INN004 INN005 INN006 INN007 INN008 INN009 INN010 INN011 INN012 INN013 INN014 INN015 INN016 INN017 INN018 INN019 INN020 INN021 INN022 INN023 INN024 INN025 INN026 INN027 INN028 INN029 INN030 INN031 INN032 INN033 INN034 INN035 INN036 INN037 INN038 INN039 INN040 INN041 INN042 INN043 INN044 INN045 INN046 INN047 INN048 INN049 INN050 INN051 INN052 LOG001 LOG002 LOG003 LOG004 LOG005 LOG006 LOG007 LOG008 MEM001 MEM002 MEM003 MEM004 MEM005 MEM006 MEM007 MOD001 MOD002 MOD003 MOD004 MOD005 MOD006 MOD007 MOD008 MOD009 MOD010 MOD011 MOD012 MYI001 MYI002 MYI003 MYI004 MYI005 MYI006 MYI007 OBS001 OBS002 OBS003 OBS004 OBS005 OBS006 OBS007 OBS008 OBS009 OBS010 OPT001 OPT002 OPT003 OPT004 OPT005 OPT006 OPT007 OPT008 OPT009 OPT010 OPT011 OPT012 OPT013 OPT014 OPT015 OPT016 OPT017 OPT018 OPT019 OPT020 OPT021 OPT022 OPT023 OPT024 OPT025 PAR001 PAR002 PAR003 PAR004 PAR005 PAR006 REP001 REP002 REP003 REP004 REP005 REP006 REP007 REP008 REP009 REP010 REP011 REP012 REP013 REP014 REP015 REP016 REP017 REP018 REP019 REP020 REP021 REP022 REP023 REP024 REP025 REP026 REP027 REP028 REP029 REP030 REP031 SCH001 SCH002 SCH003 SCH004 SCH005 SCH006 SCH007 SEC001 SEC002 SEC003 SEC004 SEC005 SEC006 SEC007 SEC008 SEC009 SEC010 SEC011 SEC012 SEC013 SEC014 SEC015 SEC016 SEC017 SEC018 SEC019 SEC020 SEC021 SEC022 SEC023 SEC024 SEC025 SEC026 SEC027 SEC028 SEC029 SEC030 SEC031 STO001 STO002 STO003 STO004 STO005 STO006 STO007 STO008 STO009 STO010 STO011 STO012 STO013 STO014 STO015 STO016 STO017 STO018 STO019 STO020 STO021 STO030 SUP001 SUP002 SUP003 SUP004 SYS001 SYS002 SYS003 SYS004 SYS005 SYS006 SYS007 SYS008 SYS009 SYS010 SYS011 SYS012 SYS013 SYS014 SYS015 SYS016 SYS017 SYS018 SYS019 SYS030 SYS031 SYS032 TAB001 TAB002 TAB003 TAB004 TLS001 TLS002 TLS003 TLS004 TLS005 TLS006 TLS007 TLS008 TLS009 TMP001 TMP002 TMP003 TMP004 TMP005 TMP006 TMP007 TMP008 TMP009 VER001 VER002 VER003 VER004 VER005 WRK001 WRK002 WRK003 WRK004 WRK005 WRK006 WRK007 WRK008 WRK009 WRK010 WRK011 WRK012 WRK013 aria-logs-kept aria-checkpoints-off aria-checksums-off no-aria-repair idle-aria-page-cache aria-pages-from-disk binary-log-never-expires zero-server-id statement-based-log short-binary-log skipped-replication-errors binary-log-named-off purge-waits-for-replica tiny-binary-logs delayed-commits binary-log-switched-off unchecked-functions-in-statement-log innodb-binary-log-not-enabled innodb-binary-log-on-galera-node innodb-binary-log-with-semi-sync unencrypted-innodb-binary-log unused-by-innodb-binary-log innodb-binary-log-without-gtid small-transaction-limit overruled-binary-log-setting unlogged-after-write-error idle-session-blocks-rows statement-blocks-rows crowd-waits-for-rows metadata-lock-queue global-lock-blocks-sessions flush-waits-for-statement named-lock-queue transaction-left-open history-grows-behind-transaction prepared-transaction-left oversized-read-buffer pointless-read-buffer oversized-sort-buffer oversized-join-buffer oversized-read-rnd-buffer oversized-temporary-tables capped-temporary-tables query-cache rearmed-query-cache user-limit-without-effect small-thread-stack thread-cache-off uncached-host-names uncounted-connect-errors packet-below-dump replica-packet-below-statements spare-port-without-address unused-thread-pool starved-thread-pool idle-connections-cut interactive-timeout-alone no-lock-wait row-waits-for-hours slow-handshakes autocommit-off deadlocks-time-out connections-refused few-connections-left oversized-connection-limit threads-made-anew more-running-than-processors aborted-connects aborted-clients backlog-cut-by-kernel thread-pool-unlike-processors idle-processors-by-limit metadata-wait-for-days offline-mode short-network-timeouts hosts-blocked-early idle-sessions-kept failing-init-connect expiring-passwords lost-commits unsynced-binary-log no-doublewrite unsynced-data-files checksums-off file-system-without-barriers redo-log-disabled myisam-by-default lax-sql-mode data-files-without-sync server-crashed unclean-shutdown failed-start out-of-memory-logged threads-not-created long-semaphore-waits innodb-corruption-logged table-marked-as-crashed tablespace-missing-logged disk-full-logged read-only-file-system-logged redo-log-full-logged too-many-connections-logged access-denied-burst aborted-connections-burst replication-error-logged cluster-majority-lost disk-errors-logged logging-turned-off too-many-open-files-logged table-full-logged plugin-not-loaded system-tables-not-upgraded galera-half-configured galera-founds-itself-anew galera-without-quorum galera-not-in-rows galera-locks-auto-increment galera-logs-half galera-local-schema-changes galera-blocking-transfer galera-of-two-nodes refused-galera-timeout single-galera-applier small-galera-cache galera-without-certification-keys galera-non-primary galera-not-ready galera-desynced galera-flow-control galera-applier-blocked galera-slow-applier galera-conflicts galera-nodes-missing galera-node-outweighs-others galera-cache-for-minutes pxc-strict-mode-off galera-rejects-queries galera-transfer-without-account galera-transfer-without-script galera-unreachable-address galera-option-line-without-effect disk-full-soon binary-logs-outgrow-disk grown-undo-tablespaces grown-temporary-tablespaces group-founds-itself-anew group-needs-unmet multi-primary-without-checks group-without-flow-control unlimited-group-transactions group-that-survives-nothing member-outside-its-group writable-group-secondary mixed-group-versions group-applier-blocked group-member-behind long-member-expel-timeout expelled-members-stay-out group-exit-stops-server group-cache-exceeds-memory open-group-without-tls recovering-group-member missing-house-option forbidden-house-option below-house-minimum above-house-maximum value-outside-house-rules pointless-buffer-pool-instances many-buffer-pool-instances random-read-ahead wasted-read-ahead flush-neighbors-on-ssd oversized-io-capacity few-buffer-pool-instances io-capacity-above-its-maximum double-buffering page-across-stripes misaligned-data large-pages-for-single-rows dedicated-server-in-container forced-recovery no-adaptive-flushing low-mark-above-dirty-maximum throttled-checkpoints scans-displace-the-pool cold-pool-after-restart shutdown-like-a-crash rounded-up-buffer-pool overruled-dedicated-server lax-table-options tables-in-the-system-tablespace system-tablespace-with-an-end statistics-on-metadata-queries forgotten-statistics undo-truncation-without-tablespaces growing-undo-files table-locked-auto-increment interleaved-ids-in-statement-log dirty-reads corrupting-change-buffer free-page-waits starved-flushing long-undo-history small-doublewrite-batches fruitless-adaptive-hash-index undersized-io-capacity native-aio-off purge-lag-without-delay single-purge-thread undo-files-kept-large moved-files-unnoticed log-writers-switched-off compressed-pages-not-logged late-flushing pages-kept-free changes-delayed-for-purge few-page-cleaners serializable-by-default poor-statistics log-buffer-waits small-redo-log checkpoint-pressure overridden-redo-size narrow-write-ahead delayed-log-flush tiny-redo-log redo-log-beyond-buffer-pool pool-exceeds-memory memory-over-budget small-buffer-pool idle-buffer-pool swapped-server killed-for-memory pool-far-below-memory substituted-engine three-byte-unicode overruled-client-character-set implicit-timestamp-defaults exhaustive-join-search few-index-dives copying-alter-table changed-name-case temporary-tables-without-rollback statements-refused-by-limit ignored-auto-increment-offset writes-refused-by-default delayed-key-writes repair-without-copy no-myisam-repair periodic-table-close updates-behind-selects idle-key-buffer key-blocks-from-disk performance-schema-off every-statement-in-slow-log unused-slow-log-settings log-output-none unlimited-index-log warnings-not-logged status-in-error-log sampled-slow-log logs-in-tables slow-statements-not-recorded unknown-option ambiguous-option invalid-value missing-argument unexpected-argument adjusted-value removed-option deprecated-option ignored-option syntax-error option-outside-group duplicate-option server-option-in-client-group ignored-option-file include-problem file-differs-from-running unread-letters refused-start escaped-path unread-group named-time-zone encryption-without-keyring instances-share-place unclosed-value client-socket-elsewhere unknown-parameter unchangeable-parameter refused-parameter-value immediate-static-parameter parameter-without-effect parameter-at-wrong-level filter-list-in-one-name filtered-binary-log filter-by-default-database idempotent-replica lossy-replica-conversions unsupported-commit-order unordered-parallel-replica parallel-by-database replica-position-in-files relay-logs-never-purged tight-relay-log-limit half-switched-gtid-mode semi-sync-after-commit semi-sync-not-in-force stopped-replica replica-lag writable-replica replica-by-file-position replica-updates-not-logged commit-order-tracking unretried-replica-transactions slow-to-miss-its-source parallel-threads-without-work relay-logs-not-recovered relay-logs-out-of-room errant-transactions duplicate-server-id source-newer-than-replica writes-refused replica-updates-switched-off replication-without-tls auto-increment-near-end unkeyed-table-in-group unkeyed-table-in-galera unkeyed-table-in-row-log unreplicated-engine tables-without-transactions redundant-indexes no-access-control plaintext-secret world-readable-secret local-infile files-anywhere old-tls general-log native-passwords-kept old-passwords any-library-function followed-symlinks raw-log shown-replica-passwords any-proxy second-port-open server-as-root half-encrypted encryption-that-waits key-beside-data pool-in-core reports-home anonymous-account passwordless-account superuser-from-anywhere locked-out-account native-password-account server-writes-its-options grant-option-from-anywhere file-privilege-from-anywhere remote-account-without-tls account-of-unresolved-host data-in-memory data-in-container-layer data-on-network-file-system file-system-without-journal data-journalled-twice data-behind-its-journal synchronous-mount access-times-written nearly-full-file-system few-files-left read-only-file-system damaged-file-system copy-on-write-data degraded-array busy-array parity-array-under-writes loop-device-under-data lone-flush-on-spinning-disk discard-at-each-commit overcommitted-thin-pool data-in-temporary-directory unsynced-data-beside-redo unused-suppression malformed-suppression unexplained-suppression expired-suppression transparent-huge-pages limited-by-the-system fair-io-scheduler swappiness pool-beyond-memory-node throttled-processors fewer-threads-than-connections unused-huge-pages refused-large-pages saving-frequency-governor first-to-be-killed low-priority-server limited-file-size io-capacity-beyond-group slow-clock-source strict-memory-commit-limit large-dirty-page-limit zone-reclaim too-little-locked-memory-for-io-uring asynchronous-requests-used-up temptable-takes-much-memory unchecked-memory-nodes tiny-table-cache overflowing-table-cache overflowing-definition-cache open-files-near-limit tls-switched-off certificate-without-key weak-cipher required-but-not-offered unproved-certificate no-tls tls-that-failed expired-certificate certificate-expires-soon padded-temporary-tables temporary-tables-forced-to-disk starved-temporary-tables temporary-tables-too-large-for-disk memory-backed-temporary-files endless-temporary-tablespace temporary-tables-on-disk exhausted-temporary-memory temptable-limits-unused end-of-life newer-than-catalog older-than-catalog known-bad-release outdated-patch-release sorts-in-many-passes joins-without-index rows-read-by-scans changes-by-full-scan prepared-for-one-execution prepared-statements-near-limit statements-prepared-again sessions-waiting-for-rows frequent-deadlocks spilling-binary-log-cache spilling-statement-cache transaction-for-each-change table-lock-waits
end

function __mycnf_families_and_rules
    printf '%s\n' ARI BIN BLK BUF CON DUR ERR GAL GRO GRP HOU INN LOG MEM MOD MYI OBS OPT PAR REP SCH SEC STO SUP SYS TAB TLS TMP VER WRK
    __mycnf_rules
end

complete -c mycnf -f
complete -c mycnf -n __mycnf_first -s h -l help -d 'show the help and exit'
complete -c mycnf -n __mycnf_first -l version -d 'show the version and exit'

complete -c mycnf -n __mycnf_first -a lint -d 'check option files, offline'
complete -c mycnf -n __mycnf_first -a show -d 'the effective value of each option, and where it came from'
complete -c mycnf -n __mycnf_first -a upgrade -d 'what another version or flavour would refuse, change or ignore'
complete -c mycnf -n __mycnf_first -a audit -d 'check a running server, its host and its option files, with evidence'
complete -c mycnf -n __mycnf_first -a preflight -d 'what the next restart of a server would refuse, lose or change'
complete -c mycnf -n __mycnf_first -a diff -d 'compare any two of: option file, running server, snapshot, a version\'s defaults'
complete -c mycnf -n __mycnf_first -a collect -d 'save the facts that an audit reads as a snapshot'
complete -c mycnf -n __mycnf_first -a report -d 'the findings of one snapshot or of many, in any format'
complete -c mycnf -n __mycnf_first -a history -d 'what changed between saved snapshots'
complete -c mycnf -n __mycnf_first -a sample -d 'save one sample of a server\'s counters, for cron or a timer'
complete -c mycnf -n __mycnf_first -a probe -d 'repeat published experiments on this host, and save the results'
complete -c mycnf -n __mycnf_first -a fleet -d 'audit many servers at once, through an Ansible inventory'
complete -c mycnf -n __mycnf_first -a suggest -d 'write an option file for a host and a workload, each line with its reason'
complete -c mycnf -n __mycnf_first -a explain -d 'explain a rule or an option, with the evidence'
complete -c mycnf -n __mycnf_first -a rules -d 'list every rule, with what it needs'
complete -c mycnf -n __mycnf_first -a grants -d 'print the statements for a least-privileged audit account'
complete -c mycnf -n __mycnf_first -a completion -d 'print the completion script for bash, zsh or fish'

# mycnf lint
complete -c mycnf -n '__mycnf_in lint' -s h -l help -d 'show this help message and exit'
complete -c mycnf -n '__mycnf_in lint' -l target -x -a '(__mycnf_targets)' -d 'server version to check for, such as mysql-8.4 or mariadb-10.11 (repeatable)'
complete -c mycnf -n '__mycnf_in lint' -l platform -x -a 'linux windows macos' -d 'platform of the server (default: by the paths in the file)'
complete -c mycnf -n '__mycnf_in lint' -l stdin-filename -x -d 'file name to report for stdin'
complete -c mycnf -n '__mycnf_in lint' -l fix -d 'apply the fixes that don\'t change what the server does'
complete -c mycnf -n '__mycnf_in lint' -l unsafe-fixes -d '--fix, and fixes that may change what the server does'
complete -c mycnf -n '__mycnf_in lint' -l diff -d 'print the changes of --fix as a diff, and write nothing'
complete -c mycnf -n '__mycnf_in lint' -l statistics -d 'count findings by rule instead of listing them'
complete -c mycnf -n '__mycnf_in lint' -l exit-zero -d 'exit 0 even with findings'
complete -c mycnf -n '__mycnf_in lint' -l parameters -r -F -d 'check ranges with a provider\'s list of parameters in JSON (describe-engine-default-parameters)'
complete -c mycnf -n '__mycnf_in lint' -l root -x -a '(__fish_complete_directories)' -d 'read absolute !include paths below DIR'
complete -c mycnf -n '__mycnf_in lint' -l config -r -F -d 'the configuration file (default: the closest mycnf.toml)'
complete -c mycnf -n '__mycnf_in lint' -l isolated -d 'use no configuration file and no baseline'
complete -c mycnf -n '__mycnf_in lint' -l select -x -a '(__fish_complete_list , __mycnf_families_and_rules)' -d 'only these codes, names or families (comma-separated)'
complete -c mycnf -n '__mycnf_in lint' -l ignore -x -a '(__fish_complete_list , __mycnf_families_and_rules)' -d 'all but these codes, names or families'
complete -c mycnf -n '__mycnf_in lint' -l fail-on -x -a 'error warning note never' -d 'exit 1 from this severity up (default: warning)'
complete -c mycnf -n '__mycnf_in lint' -l baseline -r -F -d 'suppress the findings in this baseline, each until the date in its reason, if there is one'
complete -c mycnf -n '__mycnf_in lint' -l write-baseline -r -F -d 'write the current findings as a baseline'
complete -c mycnf -n '__mycnf_in lint' -l format -x -a 'text concise json jsonl csv sarif github gitlab junit markdown' -d 'output format (default: text; repeatable, each with its own -o)'
complete -c mycnf -n '__mycnf_in lint' -s o -l output -r -F -d 'write to FILE instead of stdout'
complete -c mycnf -n '__mycnf_in lint' -l ram -x -d 'the server\'s memory, such as 64G, if it can\'t be read'
complete -c mycnf -n '__mycnf_in lint' -l cpus -x -d 'the server\'s processors, if they can\'t be read'
complete -c mycnf -n '__mycnf_in lint' -l instance-class -x -d 'the memory and processors of an instance class of Amazon RDS, such as db.r6g.2xlarge'
complete -c mycnf -n '__mycnf_in lint' -l disk -x -a 'hdd ssd nvme' -d 'the kind of disk, if it can\'t be read'
complete -c mycnf -n '__mycnf_in lint' -l host-tar -r -F -d 'a tar of the server\'s /proc and /sys'
complete -c mycnf -n '__mycnf_in lint' -F

# mycnf show
complete -c mycnf -n '__mycnf_in show' -s h -l help -d 'show this help message and exit'
complete -c mycnf -n '__mycnf_in show' -l target -x -a '(__mycnf_targets)' -d 'server version to answer for'
complete -c mycnf -n '__mycnf_in show' -l platform -x -a 'linux windows macos' -d 'platform of the server (default: by the paths in the file)'
complete -c mycnf -n '__mycnf_in show' -l set -x -d 'only this set of options by name, if a document contains several'
complete -c mycnf -n '__mycnf_in show' -l ram -x -d 'the server\'s memory, such as 64G, if it can\'t be read'
complete -c mycnf -n '__mycnf_in show' -l cpus -x -d 'the server\'s processors, if they can\'t be read'
complete -c mycnf -n '__mycnf_in show' -l instance-class -x -d 'the memory and processors of an instance class of Amazon RDS, such as db.r6g.2xlarge'
complete -c mycnf -n '__mycnf_in show' -l format -x -a 'text json' -d 'output format (default: text)'
complete -c mycnf -n '__mycnf_in show' -s o -l output -r -F -d 'write to FILE instead of stdout'
complete -c mycnf -n '__mycnf_in show' -l root -x -a '(__fish_complete_directories)' -d 'read absolute !include paths below DIR'
complete -c mycnf -n '__mycnf_in show' -l config -r -F -d 'the configuration file (default: the closest mycnf.toml)'
complete -c mycnf -n '__mycnf_in show' -l isolated -d 'use no configuration file and no baseline'
complete -c mycnf -n '__mycnf_in show' -F

# mycnf upgrade
complete -c mycnf -n '__mycnf_in upgrade' -s h -l help -d 'show this help message and exit'
complete -c mycnf -n '__mycnf_in upgrade' -l from -x -a '(__mycnf_targets)' -d 'the server version that reads the files now, such as mysql-5.7'
complete -c mycnf -n '__mycnf_in upgrade' -l to -x -a '(__mycnf_targets)' -d 'the server version that will read them'
complete -c mycnf -n '__mycnf_in upgrade' -l platform -x -a 'linux windows macos' -d 'platform of the server (default: by the paths in the file)'
complete -c mycnf -n '__mycnf_in upgrade' -l all -d 'also list changed defaults of little importance'
complete -c mycnf -n '__mycnf_in upgrade' -l keep-lines -d 'print the lines that keep the old defaults, as a [mysqld] group to paste, each with its reason'
complete -c mycnf -n '__mycnf_in upgrade' -l fail-on -x -a 'error warning note never' -d 'exit 1 from this severity up (default: error, a line at which the server stops)'
complete -c mycnf -n '__mycnf_in upgrade' -l set -x -d 'the set of options by name, if a document contains several'
complete -c mycnf -n '__mycnf_in upgrade' -l format -x -a 'text json markdown html' -d 'output format (default: text)'
complete -c mycnf -n '__mycnf_in upgrade' -s o -l output -r -F -d 'write to FILE instead of stdout'
complete -c mycnf -n '__mycnf_in upgrade' -l root -x -a '(__fish_complete_directories)' -d 'read absolute !include paths below DIR'
complete -c mycnf -n '__mycnf_in upgrade' -l config -r -F -d 'the configuration file (default: the closest mycnf.toml)'
complete -c mycnf -n '__mycnf_in upgrade' -l isolated -d 'use no configuration file and no baseline'
complete -c mycnf -n '__mycnf_in upgrade' -F

# mycnf audit
complete -c mycnf -n '__mycnf_in audit' -s h -l help -d 'show this help message and exit'
complete -c mycnf -n '__mycnf_in audit' -l snapshot -r -F -d 'audit saved facts instead of a running server'
complete -c mycnf -n '__mycnf_in audit' -l from -r -F -d 'audit texts: of SHOW GLOBAL VARIABLES, STATUS and REPLICA STATUS, pt-mysql-summary, pt-summary, or pt-stalk\'s directory'
complete -c mycnf -n '__mycnf_in audit' -l since -r -F -d 'compare with this earlier snapshot: findings resolved, new and remaining'
complete -c mycnf -n '__mycnf_in audit' -l keep -d 'save a snapshot for mycnf history too (100 per server, readable by its owner only)'
complete -c mycnf -n '__mycnf_in audit' -l demo -d 'audit a recorded server, to try mycnf'
complete -c mycnf -n '__mycnf_in audit' -l list-statements -d 'print every statement that mycnf can send, and exit'
complete -c mycnf -n '__mycnf_in audit' -l window -x -d 'time between the two samples of counters (default: 10; 0: none)'
complete -c mycnf -n '__mycnf_in audit' -l schema -d 'also examine the tables\' definitions: AUTO_INCREMENT, primary keys, engines, redundant indexes'
complete -c mycnf -n '__mycnf_in audit' -l schema-time -x -d 'time limit for --schema (default: 5); the report lists what was skipped'
complete -c mycnf -n '__mycnf_in audit' -l schema-tables -x -d 'maximum number of tables that MySQL 5.7 and MariaDB open for --schema (default: 1000); MySQL 8.0 opens none'
complete -c mycnf -n '__mycnf_in audit' -s S -l socket -r -F -d 'the server\'s Unix socket'
complete -c mycnf -n '__mycnf_in audit' -l host -x -d 'connect by TCP to this host'
complete -c mycnf -n '__mycnf_in audit' -s P -l port -x -d 'TCP port (default: 3306)'
complete -c mycnf -n '__mycnf_in audit' -s u -l user -x -d 'the account; the password comes from option files or --ask-password'
complete -c mycnf -n '__mycnf_in audit' -l ask-password -d 'ask for the password on the terminal'
complete -c mycnf -n '__mycnf_in audit' -l defaults-file -r -F -d 'read connection options from this file only'
complete -c mycnf -n '__mycnf_in audit' -l defaults-extra-file -r -F -d 'read connection options from this file as well'
complete -c mycnf -n '__mycnf_in audit' -l defaults-group-suffix -x -d 'read groups with this suffix too'
complete -c mycnf -n '__mycnf_in audit' -l login-path -x -d 'read this login path of ~/.mylogin.cnf'
complete -c mycnf -n '__mycnf_in audit' -l ssl-mode -x -a 'disabled preferred required verify-ca verify-identity' -d 'use of TLS (default: preferred)'
complete -c mycnf -n '__mycnf_in audit' -l ssl-ca -r -F -d 'certificate authority to trust'
complete -c mycnf -n '__mycnf_in audit' -l ssl-cert -r -F -d 'client certificate'
complete -c mycnf -n '__mycnf_in audit' -l ssl-key -r -F -d 'key of the client certificate'
complete -c mycnf -n '__mycnf_in audit' -l select -x -a '(__fish_complete_list , __mycnf_families_and_rules)' -d 'only these codes, names or families (comma-separated)'
complete -c mycnf -n '__mycnf_in audit' -l ignore -x -a '(__fish_complete_list , __mycnf_families_and_rules)' -d 'all but these codes, names or families'
complete -c mycnf -n '__mycnf_in audit' -l fail-on -x -a 'error warning note never' -d 'exit 1 from this severity up (default: error)'
complete -c mycnf -n '__mycnf_in audit' -l config -r -F -d 'the configuration file (default: the closest mycnf.toml)'
complete -c mycnf -n '__mycnf_in audit' -l isolated -d 'use no configuration file and no baseline'
complete -c mycnf -n '__mycnf_in audit' -l baseline -r -F -d 'suppress the findings in this baseline, each until the date in its reason, if there is one'
complete -c mycnf -n '__mycnf_in audit' -l write-baseline -r -F -d 'write the current findings as a baseline'
complete -c mycnf -n '__mycnf_in audit' -l format -x -a 'text concise json jsonl csv sarif junit markdown html prometheus' -d 'output format (default: the app on a terminal, text otherwise)'
complete -c mycnf -n '__mycnf_in audit' -s o -l output -r -F -d 'write to FILE instead of stdout'
complete -c mycnf -n '__mycnf_in audit' -l no-mouse -d 'don\'t use the mouse in the app'
complete -c mycnf -n '__mycnf_in audit' -l ram -x -d 'the server\'s memory, such as 64G, if it can\'t be read'
complete -c mycnf -n '__mycnf_in audit' -l cpus -x -d 'the server\'s processors, if they can\'t be read'
complete -c mycnf -n '__mycnf_in audit' -l instance-class -x -d 'the memory and processors of an instance class of Amazon RDS, such as db.r6g.2xlarge'
complete -c mycnf -n '__mycnf_in audit' -l disk -x -a 'hdd ssd nvme' -d 'the kind of disk, if it can\'t be read'
complete -c mycnf -n '__mycnf_in audit' -l host-tar -r -F -d 'a tar of the server\'s /proc and /sys'

# mycnf preflight
complete -c mycnf -n '__mycnf_in preflight' -s h -l help -d 'show this help message and exit'
complete -c mycnf -n '__mycnf_in preflight' -l snapshot -r -F -d 'check saved facts instead of a running server'
complete -c mycnf -n '__mycnf_in preflight' -l root -x -a '(__fish_complete_directories)' -d 'read option files and service below DIR, such as a copy of /etc to be deployed'
complete -c mycnf -n '__mycnf_in preflight' -l service -x -d 'the systemd unit that starts the server (default: its own)'
complete -c mycnf -n '__mycnf_in preflight' -s S -l socket -r -F -d 'the server\'s Unix socket'
complete -c mycnf -n '__mycnf_in preflight' -l host -x -d 'connect by TCP to this host'
complete -c mycnf -n '__mycnf_in preflight' -s P -l port -x -d 'TCP port (default: 3306)'
complete -c mycnf -n '__mycnf_in preflight' -s u -l user -x -d 'the account; the password comes from option files or --ask-password'
complete -c mycnf -n '__mycnf_in preflight' -l ask-password -d 'ask for the password on the terminal'
complete -c mycnf -n '__mycnf_in preflight' -l defaults-file -r -F -d 'read connection options from this file only'
complete -c mycnf -n '__mycnf_in preflight' -l defaults-extra-file -r -F -d 'read connection options from this file as well'
complete -c mycnf -n '__mycnf_in preflight' -l defaults-group-suffix -x -d 'read groups with this suffix too'
complete -c mycnf -n '__mycnf_in preflight' -l login-path -x -d 'read this login path of ~/.mylogin.cnf'
complete -c mycnf -n '__mycnf_in preflight' -l ssl-mode -x -a 'disabled preferred required verify-ca verify-identity' -d 'use of TLS (default: preferred)'
complete -c mycnf -n '__mycnf_in preflight' -l ssl-ca -r -F -d 'certificate authority to trust'
complete -c mycnf -n '__mycnf_in preflight' -l ssl-cert -r -F -d 'client certificate'
complete -c mycnf -n '__mycnf_in preflight' -l ssl-key -r -F -d 'key of the client certificate'
complete -c mycnf -n '__mycnf_in preflight' -l fail-on -x -a 'error warning note never' -d 'exit 1 from this severity up (default: note, anything)'
complete -c mycnf -n '__mycnf_in preflight' -l format -x -a 'text json markdown html' -d 'output format (default: text)'
complete -c mycnf -n '__mycnf_in preflight' -s o -l output -r -F -d 'write to FILE instead of stdout'

# mycnf diff
complete -c mycnf -n '__mycnf_in diff' -s h -l help -d 'show this help message and exit'
complete -c mycnf -n '__mycnf_in diff' -l target -x -a '(__mycnf_targets)' -d 'server version that reads the file (default: the other side\'s; give it twice for two files)'
complete -c mycnf -n '__mycnf_in diff' -l only -x -d 'only these variables, such as \'innodb_*\''
complete -c mycnf -n '__mycnf_in diff' -l ignore -x -d 'all but these variables'
complete -c mycnf -n '__mycnf_in diff' -l all -d 'count differences expected between any two servers too, and print values in full'
complete -c mycnf -n '__mycnf_in diff' -l set -x -d 'the set of options (twice: that of A, that of B) by name, if a document contains several'
complete -c mycnf -n '__mycnf_in diff' -l ram -x -d 'the server\'s memory, such as 64G, if it can\'t be read'
complete -c mycnf -n '__mycnf_in diff' -l cpus -x -d 'the server\'s processors, if they can\'t be read'
complete -c mycnf -n '__mycnf_in diff' -l instance-class -x -d 'the memory and processors of an instance class of Amazon RDS, such as db.r6g.2xlarge'
complete -c mycnf -n '__mycnf_in diff' -l format -x -a 'text json markdown html' -d 'output format (default: text)'
complete -c mycnf -n '__mycnf_in diff' -s o -l output -r -F -d 'write to FILE instead of stdout'
complete -c mycnf -n '__mycnf_in diff' -l root -x -a '(__fish_complete_directories)' -d 'read absolute !include paths below DIR'
complete -c mycnf -n '__mycnf_in diff' -l config -r -F -d 'the configuration file (default: the closest mycnf.toml)'
complete -c mycnf -n '__mycnf_in diff' -l isolated -d 'use no configuration file and no baseline'
complete -c mycnf -n '__mycnf_in diff' -s S -l socket -r -F -d 'the server\'s Unix socket'
complete -c mycnf -n '__mycnf_in diff' -l host -x -d 'connect by TCP to this host'
complete -c mycnf -n '__mycnf_in diff' -s P -l port -x -d 'TCP port (default: 3306)'
complete -c mycnf -n '__mycnf_in diff' -s u -l user -x -d 'the account; the password comes from option files or --ask-password'
complete -c mycnf -n '__mycnf_in diff' -l ask-password -d 'ask for the password on the terminal'
complete -c mycnf -n '__mycnf_in diff' -l defaults-file -r -F -d 'read connection options from this file only'
complete -c mycnf -n '__mycnf_in diff' -l defaults-extra-file -r -F -d 'read connection options from this file as well'
complete -c mycnf -n '__mycnf_in diff' -l defaults-group-suffix -x -d 'read groups with this suffix too'
complete -c mycnf -n '__mycnf_in diff' -l login-path -x -d 'read this login path of ~/.mylogin.cnf'
complete -c mycnf -n '__mycnf_in diff' -l ssl-mode -x -a 'disabled preferred required verify-ca verify-identity' -d 'use of TLS (default: preferred)'
complete -c mycnf -n '__mycnf_in diff' -l ssl-ca -r -F -d 'certificate authority to trust'
complete -c mycnf -n '__mycnf_in diff' -l ssl-cert -r -F -d 'client certificate'
complete -c mycnf -n '__mycnf_in diff' -l ssl-key -r -F -d 'key of the client certificate'
complete -c mycnf -n '__mycnf_in diff' -F -a '(__mycnf_targets)'

# mycnf collect
complete -c mycnf -n '__mycnf_in collect' -s h -l help -d 'show this help message and exit'
complete -c mycnf -n '__mycnf_in collect' -s o -l output -r -F -d 'the snapshot to write (mode 0600), or - for stdout; needed without --keep'
complete -c mycnf -n '__mycnf_in collect' -l keep -d 'save a snapshot for mycnf history too (100 per server, readable by its owner only)'
complete -c mycnf -n '__mycnf_in collect' -l window -x -d 'time between the two samples of counters (default: 10; 0: none)'
complete -c mycnf -n '__mycnf_in collect' -l schema -d 'also examine the tables\' definitions: AUTO_INCREMENT, primary keys, engines, redundant indexes'
complete -c mycnf -n '__mycnf_in collect' -l schema-time -x -d 'time limit for --schema (default: 5); the report lists what was skipped'
complete -c mycnf -n '__mycnf_in collect' -l schema-tables -x -d 'maximum number of tables that MySQL 5.7 and MariaDB open for --schema (default: 1000); MySQL 8.0 opens none'
complete -c mycnf -n '__mycnf_in collect' -s S -l socket -r -F -d 'the server\'s Unix socket'
complete -c mycnf -n '__mycnf_in collect' -l host -x -d 'connect by TCP to this host'
complete -c mycnf -n '__mycnf_in collect' -s P -l port -x -d 'TCP port (default: 3306)'
complete -c mycnf -n '__mycnf_in collect' -s u -l user -x -d 'the account; the password comes from option files or --ask-password'
complete -c mycnf -n '__mycnf_in collect' -l ask-password -d 'ask for the password on the terminal'
complete -c mycnf -n '__mycnf_in collect' -l defaults-file -r -F -d 'read connection options from this file only'
complete -c mycnf -n '__mycnf_in collect' -l defaults-extra-file -r -F -d 'read connection options from this file as well'
complete -c mycnf -n '__mycnf_in collect' -l defaults-group-suffix -x -d 'read groups with this suffix too'
complete -c mycnf -n '__mycnf_in collect' -l login-path -x -d 'read this login path of ~/.mylogin.cnf'
complete -c mycnf -n '__mycnf_in collect' -l ssl-mode -x -a 'disabled preferred required verify-ca verify-identity' -d 'use of TLS (default: preferred)'
complete -c mycnf -n '__mycnf_in collect' -l ssl-ca -r -F -d 'certificate authority to trust'
complete -c mycnf -n '__mycnf_in collect' -l ssl-cert -r -F -d 'client certificate'
complete -c mycnf -n '__mycnf_in collect' -l ssl-key -r -F -d 'key of the client certificate'
complete -c mycnf -n '__mycnf_in collect' -l ram -x -d 'the server\'s memory, such as 64G, if it can\'t be read'
complete -c mycnf -n '__mycnf_in collect' -l cpus -x -d 'the server\'s processors, if they can\'t be read'
complete -c mycnf -n '__mycnf_in collect' -l instance-class -x -d 'the memory and processors of an instance class of Amazon RDS, such as db.r6g.2xlarge'
complete -c mycnf -n '__mycnf_in collect' -l disk -x -a 'hdd ssd nvme' -d 'the kind of disk, if it can\'t be read'
complete -c mycnf -n '__mycnf_in collect' -l host-tar -r -F -d 'a tar of the server\'s /proc and /sys'

# mycnf report
complete -c mycnf -n '__mycnf_in report' -s h -l help -d 'show this help message and exit'
complete -c mycnf -n '__mycnf_in report' -l select -x -a '(__fish_complete_list , __mycnf_families_and_rules)' -d 'only these codes, names or families (comma-separated)'
complete -c mycnf -n '__mycnf_in report' -l ignore -x -a '(__fish_complete_list , __mycnf_families_and_rules)' -d 'all but these codes, names or families'
complete -c mycnf -n '__mycnf_in report' -l fail-on -x -a 'error warning note never' -d 'exit 1 from this severity up (default: error)'
complete -c mycnf -n '__mycnf_in report' -l config -r -F -d 'the configuration file (default: the closest mycnf.toml)'
complete -c mycnf -n '__mycnf_in report' -l isolated -d 'use no configuration file and no baseline'
complete -c mycnf -n '__mycnf_in report' -l baseline -r -F -d 'suppress the findings in this baseline'
complete -c mycnf -n '__mycnf_in report' -l since -r -F -d 'compare one snapshot with this earlier one: what is gone, still there and new'
complete -c mycnf -n '__mycnf_in report' -l jobs -x -d 'processes that check many snapshots (default: one per processor)'
complete -c mycnf -n '__mycnf_in report' -l format -x -a 'text concise json jsonl csv sarif junit markdown html prometheus parquet' -d 'output format (default: text; repeatable, each with its own -o)'
complete -c mycnf -n '__mycnf_in report' -s o -l output -r -F -d 'write to FILE instead of stdout'
complete -c mycnf -n '__mycnf_in report' -l ram -x -d 'the server\'s memory, such as 64G, if it can\'t be read'
complete -c mycnf -n '__mycnf_in report' -l cpus -x -d 'the server\'s processors, if they can\'t be read'
complete -c mycnf -n '__mycnf_in report' -l instance-class -x -d 'the memory and processors of an instance class of Amazon RDS, such as db.r6g.2xlarge'
complete -c mycnf -n '__mycnf_in report' -l disk -x -a 'hdd ssd nvme' -d 'the kind of disk, if it can\'t be read'
complete -c mycnf -n '__mycnf_in report' -l host-tar -r -F -d 'a tar of the server\'s /proc and /sys'
complete -c mycnf -n '__mycnf_in report' -F

# mycnf history
complete -c mycnf -n '__mycnf_in history' -s h -l help -d 'show this help message and exit'
complete -c mycnf -n '__mycnf_in history' -l last -x -d 'number of changes, newest first (default: 10)'
complete -c mycnf -n '__mycnf_in history' -l select -x -a '(__fish_complete_list , __mycnf_families_and_rules)' -d 'only these codes, names or families'
complete -c mycnf -n '__mycnf_in history' -l ignore -x -a '(__fish_complete_list , __mycnf_families_and_rules)' -d 'all but these codes, names or families'
complete -c mycnf -n '__mycnf_in history' -l format -x -a 'text json markdown html' -d 'output format (default: text)'
complete -c mycnf -n '__mycnf_in history' -s o -l output -r -F -d 'write to FILE instead of stdout'
complete -c mycnf -n '__mycnf_in history' -l config -r -F -d 'the configuration file (default: the closest mycnf.toml)'
complete -c mycnf -n '__mycnf_in history' -l isolated -d 'use no configuration file and no baseline'

# mycnf sample
complete -c mycnf -n '__mycnf_in sample' -s h -l help -d 'show this help message and exit'
complete -c mycnf -n '__mycnf_in sample' -l list -d 'the servers that were sampled, with their busiest hours'
complete -c mycnf -n '__mycnf_in sample' -l print-timer -d 'print a cron line and systemd units that run it, and exit'
complete -c mycnf -n '__mycnf_in sample' -s S -l socket -r -F -d 'the server\'s Unix socket'
complete -c mycnf -n '__mycnf_in sample' -l host -x -d 'connect by TCP to this host'
complete -c mycnf -n '__mycnf_in sample' -s P -l port -x -d 'TCP port (default: 3306)'
complete -c mycnf -n '__mycnf_in sample' -s u -l user -x -d 'the account; the password comes from option files or --ask-password'
complete -c mycnf -n '__mycnf_in sample' -l ask-password -d 'ask for the password on the terminal'
complete -c mycnf -n '__mycnf_in sample' -l defaults-file -r -F -d 'read connection options from this file only'
complete -c mycnf -n '__mycnf_in sample' -l defaults-extra-file -r -F -d 'read connection options from this file as well'
complete -c mycnf -n '__mycnf_in sample' -l defaults-group-suffix -x -d 'read groups with this suffix too'
complete -c mycnf -n '__mycnf_in sample' -l login-path -x -d 'read this login path of ~/.mylogin.cnf'
complete -c mycnf -n '__mycnf_in sample' -l ssl-mode -x -a 'disabled preferred required verify-ca verify-identity' -d 'use of TLS (default: preferred)'
complete -c mycnf -n '__mycnf_in sample' -l ssl-ca -r -F -d 'certificate authority to trust'
complete -c mycnf -n '__mycnf_in sample' -l ssl-cert -r -F -d 'client certificate'
complete -c mycnf -n '__mycnf_in sample' -l ssl-key -r -F -d 'key of the client certificate'

# mycnf probe
complete -c mycnf -n '__mycnf_in probe' -s h -l help -d 'show this help message and exit'
complete -c mycnf -n '__mycnf_in probe' -l describe -d 'describe the question, the evidence and the limits of the probe'
complete -c mycnf -n '__mycnf_in probe' -l dry-run -d 'print what it would create and how long it takes, and exit'
complete -c mycnf -n '__mycnf_in probe' -l time -x -d 'how long to measure: 60s, 10m, 3h (not including preparation)'
complete -c mycnf -n '__mycnf_in probe' -l rounds -x -d 'number of rounds for each variant'
complete -c mycnf -n '__mycnf_in probe' -l resume -d 'resume the saved run of the same parameters'
complete -c mycnf -n '__mycnf_in probe' -l dir -x -a '(__fish_complete_directories)' -d 'a directory on the file system to measure (default: that of the data directory)'
complete -c mycnf -n '__mycnf_in probe' -l server -l target -r -F -a '(__mycnf_targets)' -d 'the server program to start, or its target (default: this host\'s own; repeatable where two are compared)'
complete -c mycnf -n '__mycnf_in probe' -l option -x -d 'a parameter of the probe (repeatable)'
complete -c mycnf -n '__mycnf_in probe' -l set -x -d 'the option and the values that ab compares'
complete -c mycnf -n '__mycnf_in probe' -l workload -x -d 'the load, such as oltp_read_write'
complete -c mycnf -n '__mycnf_in probe' -l acceptable-qps -x -d 'lowest acceptable queries per second (cache-fit)'
complete -c mycnf -n '__mycnf_in probe' -l force -x -d 'run despite this refusal (repeatable)'
complete -c mycnf -n '__mycnf_in probe' -l seed -x -d 'seed for the order of the variants (default: random)'
complete -c mycnf -n '__mycnf_in probe' -l json -d 'the same as --format json'
complete -c mycnf -n '__mycnf_in probe' -l format -x -a 'text json markdown html svg' -d 'output format (default: text; repeatable, each with its own -o)'
complete -c mycnf -n '__mycnf_in probe' -s o -l output -r -F -d 'write to FILE instead of stdout'
complete -c mycnf -n '__mycnf_in probe; and __mycnf_without commit-latency random-read random-write sequential-read memory-latency memory-bandwidth read-buffer buffer-pool-instances read-ahead file-system range-scan cache-fit commit redo-capacity pool-size io-capacity doublewrite session-buffers connections malloc ab prove results' -a 'commit-latency random-read random-write sequential-read memory-latency memory-bandwidth read-buffer buffer-pool-instances read-ahead file-system range-scan cache-fit commit redo-capacity pool-size io-capacity doublewrite session-buffers connections malloc ab prove results'
complete -c mycnf -n '__mycnf_in probe; and not __mycnf_without commit-latency random-read random-write sequential-read memory-latency memory-bandwidth read-buffer buffer-pool-instances read-ahead file-system range-scan cache-fit commit redo-capacity pool-size io-capacity doublewrite session-buffers connections malloc ab prove results' -F -a '(__mycnf_rules)'

# mycnf fleet
complete -c mycnf -n '__mycnf_in fleet' -s h -l help -d 'show this help message and exit'
complete -c mycnf -n '__mycnf_in fleet' -s i -l inventory -r -F -d 'Ansible inventory: a file, a directory or host,host (repeatable; default: that of ansible.cfg)'
complete -c mycnf -n '__mycnf_in fleet' -s l -l limit -x -d 'only these hosts and groups, as an Ansible pattern'
complete -c mycnf -n '__mycnf_in fleet' -s f -l forks -x -d 'hosts at a time (default: Ansible\'s own setting)'
complete -c mycnf -n '__mycnf_in fleet' -l timeout -x -d 'time limit for each host (default: 60)'
complete -c mycnf -n '__mycnf_in fleet' -l dir -x -a '(__fish_complete_directories)' -d 'the run\'s directory (default: a new one below ~/.local/state/mycnf)'
complete -c mycnf -n '__mycnf_in fleet' -l resume -d 'resume the run in --dir: read only the hosts that are missing'
complete -c mycnf -n '__mycnf_in fleet' -l from -x -a '(__fish_complete_directories)' -d 'report on the run saved in DIR, without contacting any host'
complete -c mycnf -n '__mycnf_in fleet' -l vault-id -x -d 'passed to Ansible (repeatable)'
complete -c mycnf -n '__mycnf_in fleet' -l vault-password-file -r -F -d 'passed to Ansible (repeatable)'
complete -c mycnf -n '__mycnf_in fleet' -l ask-vault-password -d 'let Ansible ask for the vault password'
complete -c mycnf -n '__mycnf_in fleet' -l window -x -d 'time between the two samples of counters (default: 10; 0: none)'
complete -c mycnf -n '__mycnf_in fleet' -l select -x -a '(__fish_complete_list , __mycnf_families_and_rules)' -d 'only these codes, names or families (comma-separated)'
complete -c mycnf -n '__mycnf_in fleet' -l ignore -x -a '(__fish_complete_list , __mycnf_families_and_rules)' -d 'all but these codes, names or families'
complete -c mycnf -n '__mycnf_in fleet' -l fail-on -x -a 'error warning note never' -d 'exit 1 from this severity up (default: error)'
complete -c mycnf -n '__mycnf_in fleet' -l config -r -F -d 'the configuration file (default: the closest mycnf.toml)'
complete -c mycnf -n '__mycnf_in fleet' -l isolated -d 'use no configuration file and no baseline'
complete -c mycnf -n '__mycnf_in fleet' -l format -x -a 'text json markdown html' -d 'output format (default: text)'
complete -c mycnf -n '__mycnf_in fleet' -s o -l output -r -F -d 'write to FILE instead of stdout'

# mycnf suggest
complete -c mycnf -n '__mycnf_in suggest' -s h -l help -d 'show this help message and exit'
complete -c mycnf -n '__mycnf_in suggest' -l target -x -a '(__mycnf_targets)' -d 'server version that the file is for (default: the newest MySQL)'
complete -c mycnf -n '__mycnf_in suggest' -l workload -x -a 'oltp mixed analytic dev' -d 'workload of the server (default: mixed)'
complete -c mycnf -n '__mycnf_in suggest' -l ram -x -d 'the server\'s memory, such as 64G, if it can\'t be read'
complete -c mycnf -n '__mycnf_in suggest' -l cpus -x -d 'the server\'s processors, if they can\'t be read'
complete -c mycnf -n '__mycnf_in suggest' -l instance-class -x -d 'the memory and processors of an instance class of Amazon RDS, such as db.r6g.2xlarge'
complete -c mycnf -n '__mycnf_in suggest' -l disk -x -a 'hdd ssd nvme' -d 'the kind of disk, if it can\'t be read'
complete -c mycnf -n '__mycnf_in suggest' -l host-tar -r -F -d 'a tar of the server\'s /proc and /sys'
complete -c mycnf -n '__mycnf_in suggest' -l write-diff -r -F -d 'print the changes to this option file as a diff'
complete -c mycnf -n '__mycnf_in suggest' -l config -r -F -d 'the configuration file (default: the closest mycnf.toml)'
complete -c mycnf -n '__mycnf_in suggest' -l isolated -d 'use no configuration file and no baseline'
complete -c mycnf -n '__mycnf_in suggest' -l format -x -a 'text json terraform cloudformation aws k8s' -d 'output format (default: text)'
complete -c mycnf -n '__mycnf_in suggest' -s o -l output -r -F -d 'write to FILE instead of stdout'

# mycnf explain
complete -c mycnf -n '__mycnf_in explain' -s h -l help -d 'show this help message and exit'
complete -c mycnf -n '__mycnf_in explain' -l target -x -a '(__mycnf_targets)' -d 'server version to answer for, and to compare the evidence with'
complete -c mycnf -n '__mycnf_in explain' -l ram -x -d 'the server\'s memory, such as 64G, if it can\'t be read'
complete -c mycnf -n '__mycnf_in explain' -l cpus -x -d 'the server\'s processors, if they can\'t be read'
complete -c mycnf -n '__mycnf_in explain' -l instance-class -x -d 'the memory and processors of an instance class of Amazon RDS, such as db.r6g.2xlarge'
complete -c mycnf -n '__mycnf_in explain' -l disk -x -a 'hdd ssd nvme' -d 'the kind of disk, if it can\'t be read'
complete -c mycnf -n '__mycnf_in explain' -l host-tar -r -F -d 'a tar of the server\'s /proc and /sys'
complete -c mycnf -n '__mycnf_in explain' -l format -x -a 'text json markdown html' -d 'output format (default: text)'
complete -c mycnf -n '__mycnf_in explain' -s o -l output -r -F -d 'write to FILE instead of stdout'
complete -c mycnf -n '__mycnf_in explain' -a '(__mycnf_rules)'

# mycnf rules
complete -c mycnf -n '__mycnf_in rules' -s h -l help -d 'show this help message and exit'
complete -c mycnf -n '__mycnf_in rules' -l format -x -a 'text json markdown' -d 'output format (default: text)'
complete -c mycnf -n '__mycnf_in rules' -s o -l output -r -F -d 'write to FILE instead of stdout'

# mycnf grants
complete -c mycnf -n '__mycnf_in grants' -s h -l help -d 'show this help message and exit'
complete -c mycnf -n '__mycnf_in grants' -l target -x -a '(__mycnf_targets)' -d 'server version that the account is for'
complete -c mycnf -n '__mycnf_in grants' -l schema -d 'also the privileges for mycnf audit --schema'

# mycnf completion
complete -c mycnf -n '__mycnf_in completion' -s h -l help -d 'show this help message and exit'
complete -c mycnf -n '__mycnf_in completion; and __mycnf_without bash zsh fish' -a 'bash zsh fish'

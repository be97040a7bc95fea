# bash completion for mycnf, made from the program's own parser by `make docs`.
# Of use by itself (source it), or as mycnf in the folder of the package bash-completion.

_mycnf_words() { COMPREPLY=($(compgen -W "$*" -- "$cur")); }

_mycnf_list() {
    local before=
    [[ $cur == *,* ]] && before=${cur%,*},
    COMPREPLY=($(compgen -P "$before" -W "$*" -- "${cur##*,}"))
}

# An empty answer with these options makes bash complete files by itself, blanks and ~ included; bash 3 has no compopt.
_mycnf_files() { compopt -o default 2>/dev/null || COMPREPLY=($(compgen -f -- "$cur")); }

_mycnf_folders() { compopt -o dirnames 2>/dev/null || COMPREPLY=($(compgen -d -- "$cur")); }

_mycnf_words_or_files() {
    _mycnf_words "$1"
    ((${#COMPREPLY[@]})) || _mycnf_files
}

# Whether one of these words was given to the command already.
_mycnf_given() {
    local given word
    for given in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
        for word; do [[ $given == "$word" ]] && return; done
    done
    return 1
}

_mycnf_in_lint() {
    case $prev in
    --target)
        _mycnf_words "$_mycnf_targets"
        return
        ;;
    --platform)
        _mycnf_words 'linux windows macos'
        return
        ;;
    --stdin-filename | --ram | --cpus | --instance-class)
        return
        ;;
    --parameters | --config | --baseline | --write-baseline | -o | --output | --host-tar)
        _mycnf_files
        return
        ;;
    --root)
        _mycnf_folders
        return
        ;;
    --select | --ignore)
        _mycnf_list "$_mycnf_families $_mycnf_rules"
        return
        ;;
    --fail-on)
        _mycnf_words 'error warning note never'
        return
        ;;
    --format)
        _mycnf_words 'text concise json jsonl csv sarif github gitlab junit markdown'
        return
        ;;
    --disk)
        _mycnf_words 'hdd ssd nvme'
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        _mycnf_words '-h --help --target --platform --stdin-filename --fix --unsafe-fixes --diff --statistics --exit-zero --parameters --root --config --isolated --select --ignore --fail-on --baseline --write-baseline --format -o --output --ram --cpus --instance-class --disk --host-tar'
    else
        _mycnf_files
    fi
}

_mycnf_in_show() {
    case $prev in
    --target)
        _mycnf_words "$_mycnf_targets"
        return
        ;;
    --platform)
        _mycnf_words 'linux windows macos'
        return
        ;;
    --set | --ram | --cpus | --instance-class)
        return
        ;;
    --format)
        _mycnf_words 'text json'
        return
        ;;
    -o | --output | --config)
        _mycnf_files
        return
        ;;
    --root)
        _mycnf_folders
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        _mycnf_words '-h --help --target --platform --set --ram --cpus --instance-class --format -o --output --root --config --isolated'
    else
        _mycnf_files
    fi
}

_mycnf_in_upgrade() {
    case $prev in
    --from | --to)
        _mycnf_words "$_mycnf_targets"
        return
        ;;
    --platform)
        _mycnf_words 'linux windows macos'
        return
        ;;
    --fail-on)
        _mycnf_words 'error warning note never'
        return
        ;;
    --set)
        return
        ;;
    --format)
        _mycnf_words 'text json markdown html'
        return
        ;;
    -o | --output | --config)
        _mycnf_files
        return
        ;;
    --root)
        _mycnf_folders
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        _mycnf_words '-h --help --from --to --platform --all --keep-lines --fail-on --set --format -o --output --root --config --isolated'
    else
        _mycnf_files
    fi
}

_mycnf_in_audit() {
    case $prev in
    --snapshot | --from | --since | -S | --socket | --defaults-file | --defaults-extra-file | --ssl-ca | --ssl-cert | --ssl-key | --config | --baseline | --write-baseline | -o | --output | --host-tar)
        _mycnf_files
        return
        ;;
    --window | --schema-time | --schema-tables | --host | -P | --port | -u | --user | --defaults-group-suffix | --login-path | --ram | --cpus | --instance-class)
        return
        ;;
    --ssl-mode)
        _mycnf_words 'disabled preferred required verify-ca verify-identity'
        return
        ;;
    --select | --ignore)
        _mycnf_list "$_mycnf_families $_mycnf_rules"
        return
        ;;
    --fail-on)
        _mycnf_words 'error warning note never'
        return
        ;;
    --format)
        _mycnf_words 'text concise json jsonl csv sarif junit markdown html prometheus'
        return
        ;;
    --disk)
        _mycnf_words 'hdd ssd nvme'
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        _mycnf_words '-h --help --snapshot --from --since --keep --demo --list-statements --window --schema --schema-time --schema-tables -S --socket --host -P --port -u --user --ask-password --defaults-file --defaults-extra-file --defaults-group-suffix --login-path --ssl-mode --ssl-ca --ssl-cert --ssl-key --select --ignore --fail-on --config --isolated --baseline --write-baseline --format -o --output --no-mouse --ram --cpus --instance-class --disk --host-tar'
    fi
}

_mycnf_in_preflight() {
    case $prev in
    --snapshot | -S | --socket | --defaults-file | --defaults-extra-file | --ssl-ca | --ssl-cert | --ssl-key | -o | --output)
        _mycnf_files
        return
        ;;
    --root)
        _mycnf_folders
        return
        ;;
    --service | --host | -P | --port | -u | --user | --defaults-group-suffix | --login-path)
        return
        ;;
    --ssl-mode)
        _mycnf_words 'disabled preferred required verify-ca verify-identity'
        return
        ;;
    --fail-on)
        _mycnf_words 'error warning note never'
        return
        ;;
    --format)
        _mycnf_words 'text json markdown html'
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        _mycnf_words '-h --help --snapshot --root --service -S --socket --host -P --port -u --user --ask-password --defaults-file --defaults-extra-file --defaults-group-suffix --login-path --ssl-mode --ssl-ca --ssl-cert --ssl-key --fail-on --format -o --output'
    fi
}

_mycnf_in_diff() {
    case $prev in
    --target)
        _mycnf_words "$_mycnf_targets"
        return
        ;;
    --only | --ignore | --set | --ram | --cpus | --instance-class | --host | -P | --port | -u | --user | --defaults-group-suffix | --login-path)
        return
        ;;
    --format)
        _mycnf_words 'text json markdown html'
        return
        ;;
    -o | --output | --config | -S | --socket | --defaults-file | --defaults-extra-file | --ssl-ca | --ssl-cert | --ssl-key)
        _mycnf_files
        return
        ;;
    --root)
        _mycnf_folders
        return
        ;;
    --ssl-mode)
        _mycnf_words 'disabled preferred required verify-ca verify-identity'
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        _mycnf_words '-h --help --target --only --ignore --all --set --ram --cpus --instance-class --format -o --output --root --config --isolated -S --socket --host -P --port -u --user --ask-password --defaults-file --defaults-extra-file --defaults-group-suffix --login-path --ssl-mode --ssl-ca --ssl-cert --ssl-key'
    else
        _mycnf_words_or_files "$_mycnf_targets"
    fi
}

_mycnf_in_collect() {
    case $prev in
    -o | --output | -S | --socket | --defaults-file | --defaults-extra-file | --ssl-ca | --ssl-cert | --ssl-key | --host-tar)
        _mycnf_files
        return
        ;;
    --window | --schema-time | --schema-tables | --host | -P | --port | -u | --user | --defaults-group-suffix | --login-path | --ram | --cpus | --instance-class)
        return
        ;;
    --ssl-mode)
        _mycnf_words 'disabled preferred required verify-ca verify-identity'
        return
        ;;
    --disk)
        _mycnf_words 'hdd ssd nvme'
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        _mycnf_words '-h --help -o --output --keep --window --schema --schema-time --schema-tables -S --socket --host -P --port -u --user --ask-password --defaults-file --defaults-extra-file --defaults-group-suffix --login-path --ssl-mode --ssl-ca --ssl-cert --ssl-key --ram --cpus --instance-class --disk --host-tar'
    fi
}

_mycnf_in_report() {
    case $prev in
    --select | --ignore)
        _mycnf_list "$_mycnf_families $_mycnf_rules"
        return
        ;;
    --fail-on)
        _mycnf_words 'error warning note never'
        return
        ;;
    --config | --baseline | --since | -o | --output | --host-tar)
        _mycnf_files
        return
        ;;
    --jobs | --ram | --cpus | --instance-class)
        return
        ;;
    --format)
        _mycnf_words 'text concise json jsonl csv sarif junit markdown html prometheus parquet'
        return
        ;;
    --disk)
        _mycnf_words 'hdd ssd nvme'
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        _mycnf_words '-h --help --select --ignore --fail-on --config --isolated --baseline --since --jobs --format -o --output --ram --cpus --instance-class --disk --host-tar'
    else
        _mycnf_files
    fi
}

_mycnf_in_history() {
    case $prev in
    --last)
        return
        ;;
    --select | --ignore)
        _mycnf_list "$_mycnf_families $_mycnf_rules"
        return
        ;;
    --format)
        _mycnf_words 'text json markdown html'
        return
        ;;
    -o | --output | --config)
        _mycnf_files
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        _mycnf_words '-h --help --last --select --ignore --format -o --output --config --isolated'
    fi
}

_mycnf_in_sample() {
    case $prev in
    -S | --socket | --defaults-file | --defaults-extra-file | --ssl-ca | --ssl-cert | --ssl-key)
        _mycnf_files
        return
        ;;
    --host | -P | --port | -u | --user | --defaults-group-suffix | --login-path)
        return
        ;;
    --ssl-mode)
        _mycnf_words 'disabled preferred required verify-ca verify-identity'
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        _mycnf_words '-h --help --list --print-timer -S --socket --host -P --port -u --user --ask-password --defaults-file --defaults-extra-file --defaults-group-suffix --login-path --ssl-mode --ssl-ca --ssl-cert --ssl-key'
    fi
}

_mycnf_in_probe() {
    case $prev in
    --time | --rounds | --option | --set | --workload | --acceptable-qps | --force | --seed)
        return
        ;;
    --dir)
        _mycnf_folders
        return
        ;;
    --server | --target)
        _mycnf_words_or_files "$_mycnf_targets"
        return
        ;;
    --format)
        _mycnf_words 'text json markdown html svg'
        return
        ;;
    -o | --output)
        _mycnf_files
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        _mycnf_words '-h --help --describe --dry-run --time --rounds --resume --dir --server --target --option --set --workload --acceptable-qps --force --seed --json --format -o --output'
    elif ! _mycnf_given commit-latency random-read random-write sequential-read memory-latency memory-bandwidth read-buffer buffer-pool-instances read-ahead file-system range-scan cache-fit commit redo-capacity pool-size io-capacity doublewrite session-buffers connections malloc ab prove results; then
        _mycnf_words 'commit-latency random-read random-write sequential-read memory-latency memory-bandwidth read-buffer buffer-pool-instances read-ahead file-system range-scan cache-fit commit redo-capacity pool-size io-capacity doublewrite session-buffers connections malloc ab prove results'
    else
        _mycnf_words_or_files "$_mycnf_rules"
    fi
}

_mycnf_in_fleet() {
    case $prev in
    -i | --inventory | --vault-password-file | --config | -o | --output)
        _mycnf_files
        return
        ;;
    -l | --limit | -f | --forks | --timeout | --vault-id | --window)
        return
        ;;
    --dir | --from)
        _mycnf_folders
        return
        ;;
    --select | --ignore)
        _mycnf_list "$_mycnf_families $_mycnf_rules"
        return
        ;;
    --fail-on)
        _mycnf_words 'error warning note never'
        return
        ;;
    --format)
        _mycnf_words 'text json markdown html'
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        _mycnf_words '-h --help -i --inventory -l --limit -f --forks --timeout --dir --resume --from --vault-id --vault-password-file --ask-vault-password --window --select --ignore --fail-on --config --isolated --format -o --output'
    fi
}

_mycnf_in_suggest() {
    case $prev in
    --target)
        _mycnf_words "$_mycnf_targets"
        return
        ;;
    --workload)
        _mycnf_words 'oltp mixed analytic dev'
        return
        ;;
    --ram | --cpus | --instance-class)
        return
        ;;
    --disk)
        _mycnf_words 'hdd ssd nvme'
        return
        ;;
    --host-tar | --write-diff | --config | -o | --output)
        _mycnf_files
        return
        ;;
    --format)
        _mycnf_words 'text json terraform cloudformation aws k8s'
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        _mycnf_words '-h --help --target --workload --ram --cpus --instance-class --disk --host-tar --write-diff --config --isolated --format -o --output'
    fi
}

_mycnf_in_explain() {
    case $prev in
    --target)
        _mycnf_words "$_mycnf_targets"
        return
        ;;
    --ram | --cpus | --instance-class)
        return
        ;;
    --disk)
        _mycnf_words 'hdd ssd nvme'
        return
        ;;
    --host-tar | -o | --output)
        _mycnf_files
        return
        ;;
    --format)
        _mycnf_words 'text json markdown html'
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        _mycnf_words '-h --help --target --ram --cpus --instance-class --disk --host-tar --format -o --output'
    else
        _mycnf_words "$_mycnf_rules"
    fi
}

_mycnf_in_rules() {
    case $prev in
    --format)
        _mycnf_words 'text json markdown'
        return
        ;;
    -o | --output)
        _mycnf_files
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        _mycnf_words '-h --help --format -o --output'
    fi
}

_mycnf_in_grants() {
    case $prev in
    --target)
        _mycnf_words "$_mycnf_targets"
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        _mycnf_words '-h --help --target --schema'
    fi
}

_mycnf_in_completion() {
    case $prev in
    esac
    if [[ $cur == -* ]]; then
        _mycnf_words '-h --help'
    elif ! _mycnf_given bash zsh fish; then
        _mycnf_words 'bash zsh fish'
    fi
}

_mycnf() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
    local _mycnf_targets='mysql-5.7 mysql-8.0 mysql-8.4 mysql-9.7 mariadb-10.6 mariadb-10.11 mariadb-11.4 mariadb-11.8 mariadb-12.3 mysql-enterprise-5.7 mysql-enterprise-8.0 mysql-enterprise-8.4 mysql-enterprise-9.7 percona-5.7 percona-8.0 percona-8.4 pxc-5.7 pxc-8.0 pxc-8.4'
    local _mycnf_families='ARI BIN BLK BUF CON DUR ERR GAL GRO GRP HOU INN LOG MEM MOD MYI OBS OPT PAR REP SCH SEC STO SUP SYS TAB TLS TMP VER WRK'
    local _mycnf_rules='ARI001 ARI002 ARI003 ARI004 ARI005 ARI006 BIN001 BIN002 BIN003 BIN004 BIN005 BIN006 BIN007 BIN008 BIN009 BIN010 BIN011 BIN012 BIN013 BIN014 BIN015 BIN016 BIN017 BIN018 BIN019 BIN020 BLK001 BLK002 BLK003 BLK004 BLK005 BLK006 BLK007 BLK008 BLK009 BLK010 BUF001 BUF002 BUF003 BUF004 BUF005 BUF006 BUF007 BUF008 BUF009 CON001 CON002 CON003 CON004 CON005 CON006 CON007 CON008 CON009 CON010 CON011 CON012 CON013 CON014 CON015 CON016 CON017 CON018 CON019 CON020 CON021 CON022 CON023 CON024 CON025 CON026 CON027 CON028 CON029 CON030 CON031 CON032 CON033 CON034 DUR001 DUR002 DUR003 DUR004 DUR005 DUR006 DUR007 DUR008 DUR009 DUR010 ERR001 ERR002 ERR003 ERR004 ERR005 ERR006 ERR007 ERR008 ERR009 ERR010 ERR011 ERR012 ERR013 ERR014 ERR015 ERR016 ERR017 ERR018 ERR019 ERR020 ERR021 ERR022 ERR023 GAL001 GAL002 GAL003 GAL004 GAL005 GAL006 GAL007 GAL008 GAL009 GAL010 GAL011 GAL012 GAL013 GAL014 GAL015 GAL016 GAL017 GAL018 GAL019 GAL020 GAL021 GAL022 GAL023 GAL024 GAL025 GAL026 GAL027 GAL028 GAL029 GRO001 GRO002 GRO003 GRO004 GRP001 GRP002 GRP003 GRP004 GRP005 GRP006 GRP007 GRP008 GRP009 GRP010 GRP011 GRP012 GRP013 GRP014 GRP015 GRP016 GRP017 HOU001 HOU002 HOU003 HOU004 HOU005 INN001 INN002 INN003 INN004 INN005 INN006 INN007 INN008 INN009 INN010 INN011 INN012 INN013 INN014 INN015 INN016 INN017 INN018 INN019 INN020 INN021 INN022 INN023 INN024 INN025 INN026 INN027 INN028 INN029 INN030 INN031 INN032 INN033 INN034 INN035 INN036 INN037 INN038 INN039 INN040 INN041 INN042 INN043 INN044 INN045 INN046 INN047 INN048 INN049 INN050 INN051 INN052 LOG001 LOG002 LOG003 LOG004 LOG005 LOG006 LOG007 LOG008 MEM001 MEM002 MEM003 MEM004 MEM005 MEM006 MEM007 MOD001 MOD002 MOD003 MOD004 MOD005 MOD006 MOD007 MOD008 MOD009 MOD010 MOD011 MOD012 MYI001 MYI002 MYI003 MYI004 MYI005 MYI006 MYI007 OBS001 OBS002 OBS003 OBS004 OBS005 OBS006 OBS007 OBS008 OBS009 OBS010 OPT001 OPT002 OPT003 OPT004 OPT005 OPT006 OPT007 OPT008 OPT009 OPT010 OPT011 OPT012 OPT013 OPT014 OPT015 OPT016 OPT017 OPT018 OPT019 OPT020 OPT021 OPT022 OPT023 OPT024 OPT025 PAR001 PAR002 PAR003 PAR004 PAR005 PAR006 REP001 REP002 REP003 REP004 REP005 REP006 REP007 REP008 REP009 REP010 REP011 REP012 REP013 REP014 REP015 REP016 REP017 REP018 REP019 REP020 REP021 REP022 REP023 REP024 REP025 REP026 REP027 REP028 REP029 REP030 REP031 SCH001 SCH002 SCH003 SCH004 SCH005 SCH006 SCH007 SEC001 SEC002 SEC003 SEC004 SEC005 SEC006 SEC007 SEC008 SEC009 SEC010 SEC011 SEC012 SEC013 SEC014 SEC015 SEC016 SEC017 SEC018 SEC019 SEC020 SEC021 SEC022 SEC023 SEC024 SEC025 SEC026 SEC027 SEC028 SEC029 SEC030 SEC031 STO001 STO002 STO003 STO004 STO005 STO006 STO007 STO008 STO009 STO010 STO011 STO012 STO013 STO014 STO015 STO016 STO017 STO018 STO019 STO020 STO021 STO030 SUP001 SUP002 SUP003 SUP004 SYS001 SYS002 SYS003 SYS004 SYS005 SYS006 SYS007 SYS008 SYS009 SYS010 SYS011 SYS012 SYS013 SYS014 SYS015 SYS016 SYS017 SYS018 SYS019 SYS030 SYS031 SYS032 TAB001 TAB002 TAB003 TAB004 TLS001 TLS002 TLS003 TLS004 TLS005 TLS006 TLS007 TLS008 TLS009 TMP001 TMP002 TMP003 TMP004 TMP005 TMP006 TMP007 TMP008 TMP009 VER001 VER002 VER003 VER004 VER005 WRK001 WRK002 WRK003 WRK004 WRK005 WRK006 WRK007 WRK008 WRK009 WRK010 WRK011 WRK012 WRK013 aria-logs-kept aria-checkpoints-off aria-checksums-off no-aria-repair idle-aria-page-cache aria-pages-from-disk binary-log-never-expires zero-server-id statement-based-log short-binary-log skipped-replication-errors binary-log-named-off purge-waits-for-replica tiny-binary-logs delayed-commits binary-log-switched-off unchecked-functions-in-statement-log innodb-binary-log-not-enabled innodb-binary-log-on-galera-node innodb-binary-log-with-semi-sync unencrypted-innodb-binary-log unused-by-innodb-binary-log innodb-binary-log-without-gtid small-transaction-limit overruled-binary-log-setting unlogged-after-write-error idle-session-blocks-rows statement-blocks-rows crowd-waits-for-rows metadata-lock-queue global-lock-blocks-sessions flush-waits-for-statement named-lock-queue transaction-left-open history-grows-behind-transaction prepared-transaction-left oversized-read-buffer pointless-read-buffer oversized-sort-buffer oversized-join-buffer oversized-read-rnd-buffer oversized-temporary-tables capped-temporary-tables query-cache rearmed-query-cache user-limit-without-effect small-thread-stack thread-cache-off uncached-host-names uncounted-connect-errors packet-below-dump replica-packet-below-statements spare-port-without-address unused-thread-pool starved-thread-pool idle-connections-cut interactive-timeout-alone no-lock-wait row-waits-for-hours slow-handshakes autocommit-off deadlocks-time-out connections-refused few-connections-left oversized-connection-limit threads-made-anew more-running-than-processors aborted-connects aborted-clients backlog-cut-by-kernel thread-pool-unlike-processors idle-processors-by-limit metadata-wait-for-days offline-mode short-network-timeouts hosts-blocked-early idle-sessions-kept failing-init-connect expiring-passwords lost-commits unsynced-binary-log no-doublewrite unsynced-data-files checksums-off file-system-without-barriers redo-log-disabled myisam-by-default lax-sql-mode data-files-without-sync server-crashed unclean-shutdown failed-start out-of-memory-logged threads-not-created long-semaphore-waits innodb-corruption-logged table-marked-as-crashed tablespace-missing-logged disk-full-logged read-only-file-system-logged redo-log-full-logged too-many-connections-logged access-denied-burst aborted-connections-burst replication-error-logged cluster-majority-lost disk-errors-logged logging-turned-off too-many-open-files-logged table-full-logged plugin-not-loaded system-tables-not-upgraded galera-half-configured galera-founds-itself-anew galera-without-quorum galera-not-in-rows galera-locks-auto-increment galera-logs-half galera-local-schema-changes galera-blocking-transfer galera-of-two-nodes refused-galera-timeout single-galera-applier small-galera-cache galera-without-certification-keys galera-non-primary galera-not-ready galera-desynced galera-flow-control galera-applier-blocked galera-slow-applier galera-conflicts galera-nodes-missing galera-node-outweighs-others galera-cache-for-minutes pxc-strict-mode-off galera-rejects-queries galera-transfer-without-account galera-transfer-without-script galera-unreachable-address galera-option-line-without-effect disk-full-soon binary-logs-outgrow-disk grown-undo-tablespaces grown-temporary-tablespaces group-founds-itself-anew group-needs-unmet multi-primary-without-checks group-without-flow-control unlimited-group-transactions group-that-survives-nothing member-outside-its-group writable-group-secondary mixed-group-versions group-applier-blocked group-member-behind long-member-expel-timeout expelled-members-stay-out group-exit-stops-server group-cache-exceeds-memory open-group-without-tls recovering-group-member missing-house-option forbidden-house-option below-house-minimum above-house-maximum value-outside-house-rules pointless-buffer-pool-instances many-buffer-pool-instances random-read-ahead wasted-read-ahead flush-neighbors-on-ssd oversized-io-capacity few-buffer-pool-instances io-capacity-above-its-maximum double-buffering page-across-stripes misaligned-data large-pages-for-single-rows dedicated-server-in-container forced-recovery no-adaptive-flushing low-mark-above-dirty-maximum throttled-checkpoints scans-displace-the-pool cold-pool-after-restart shutdown-like-a-crash rounded-up-buffer-pool overruled-dedicated-server lax-table-options tables-in-the-system-tablespace system-tablespace-with-an-end statistics-on-metadata-queries forgotten-statistics undo-truncation-without-tablespaces growing-undo-files table-locked-auto-increment interleaved-ids-in-statement-log dirty-reads corrupting-change-buffer free-page-waits starved-flushing long-undo-history small-doublewrite-batches fruitless-adaptive-hash-index undersized-io-capacity native-aio-off purge-lag-without-delay single-purge-thread undo-files-kept-large moved-files-unnoticed log-writers-switched-off compressed-pages-not-logged late-flushing pages-kept-free changes-delayed-for-purge few-page-cleaners serializable-by-default poor-statistics log-buffer-waits small-redo-log checkpoint-pressure overridden-redo-size narrow-write-ahead delayed-log-flush tiny-redo-log redo-log-beyond-buffer-pool pool-exceeds-memory memory-over-budget small-buffer-pool idle-buffer-pool swapped-server killed-for-memory pool-far-below-memory substituted-engine three-byte-unicode overruled-client-character-set implicit-timestamp-defaults exhaustive-join-search few-index-dives copying-alter-table changed-name-case temporary-tables-without-rollback statements-refused-by-limit ignored-auto-increment-offset writes-refused-by-default delayed-key-writes repair-without-copy no-myisam-repair periodic-table-close updates-behind-selects idle-key-buffer key-blocks-from-disk performance-schema-off every-statement-in-slow-log unused-slow-log-settings log-output-none unlimited-index-log warnings-not-logged status-in-error-log sampled-slow-log logs-in-tables slow-statements-not-recorded unknown-option ambiguous-option invalid-value missing-argument unexpected-argument adjusted-value removed-option deprecated-option ignored-option syntax-error option-outside-group duplicate-option server-option-in-client-group ignored-option-file include-problem file-differs-from-running unread-letters refused-start escaped-path unread-group named-time-zone encryption-without-keyring instances-share-place unclosed-value client-socket-elsewhere unknown-parameter unchangeable-parameter refused-parameter-value immediate-static-parameter parameter-without-effect parameter-at-wrong-level filter-list-in-one-name filtered-binary-log filter-by-default-database idempotent-replica lossy-replica-conversions unsupported-commit-order unordered-parallel-replica parallel-by-database replica-position-in-files relay-logs-never-purged tight-relay-log-limit half-switched-gtid-mode semi-sync-after-commit semi-sync-not-in-force stopped-replica replica-lag writable-replica replica-by-file-position replica-updates-not-logged commit-order-tracking unretried-replica-transactions slow-to-miss-its-source parallel-threads-without-work relay-logs-not-recovered relay-logs-out-of-room errant-transactions duplicate-server-id source-newer-than-replica writes-refused replica-updates-switched-off replication-without-tls auto-increment-near-end unkeyed-table-in-group unkeyed-table-in-galera unkeyed-table-in-row-log unreplicated-engine tables-without-transactions redundant-indexes no-access-control plaintext-secret world-readable-secret local-infile files-anywhere old-tls general-log native-passwords-kept old-passwords any-library-function followed-symlinks raw-log shown-replica-passwords any-proxy second-port-open server-as-root half-encrypted encryption-that-waits key-beside-data pool-in-core reports-home anonymous-account passwordless-account superuser-from-anywhere locked-out-account native-password-account server-writes-its-options grant-option-from-anywhere file-privilege-from-anywhere remote-account-without-tls account-of-unresolved-host data-in-memory data-in-container-layer data-on-network-file-system file-system-without-journal data-journalled-twice data-behind-its-journal synchronous-mount access-times-written nearly-full-file-system few-files-left read-only-file-system damaged-file-system copy-on-write-data degraded-array busy-array parity-array-under-writes loop-device-under-data lone-flush-on-spinning-disk discard-at-each-commit overcommitted-thin-pool data-in-temporary-directory unsynced-data-beside-redo unused-suppression malformed-suppression unexplained-suppression expired-suppression transparent-huge-pages limited-by-the-system fair-io-scheduler swappiness pool-beyond-memory-node throttled-processors fewer-threads-than-connections unused-huge-pages refused-large-pages saving-frequency-governor first-to-be-killed low-priority-server limited-file-size io-capacity-beyond-group slow-clock-source strict-memory-commit-limit large-dirty-page-limit zone-reclaim too-little-locked-memory-for-io-uring asynchronous-requests-used-up temptable-takes-much-memory unchecked-memory-nodes tiny-table-cache overflowing-table-cache overflowing-definition-cache open-files-near-limit tls-switched-off certificate-without-key weak-cipher required-but-not-offered unproved-certificate no-tls tls-that-failed expired-certificate certificate-expires-soon padded-temporary-tables temporary-tables-forced-to-disk starved-temporary-tables temporary-tables-too-large-for-disk memory-backed-temporary-files endless-temporary-tablespace temporary-tables-on-disk exhausted-temporary-memory temptable-limits-unused end-of-life newer-than-catalog older-than-catalog known-bad-release outdated-patch-release sorts-in-many-passes joins-without-index rows-read-by-scans changes-by-full-scan prepared-for-one-execution prepared-statements-near-limit statements-prepared-again sessions-waiting-for-rows frequent-deadlocks spilling-binary-log-cache spilling-statement-cache transaction-for-each-change table-lock-waits'
    COMPREPLY=()
    # bash takes --option=value for three words.
    if [[ $cur == = ]]; then
        cur=
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    if ((COMP_CWORD == 1)); then
        _mycnf_words 'lint show upgrade audit preflight diff collect report history sample probe fleet suggest explain rules grants completion -h --help --version'
        return
    fi
    case ${COMP_WORDS[1]} in
    lint | show | upgrade | audit | preflight | diff | collect | report | history | sample | probe | fleet | suggest | explain | rules | grants | completion) "_mycnf_in_${COMP_WORDS[1]}" ;;
    esac
}

complete -F _mycnf mycnf

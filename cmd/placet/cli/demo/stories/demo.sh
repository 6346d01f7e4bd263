# The demo: what it says, and what it does. placet demo runs it in a folder of its own, by
# the shell, with PLACET, the program, STORY, which one, STEP, whether it waits for Enter
# after each step, TRY, whether the reader answers, and STRONG, FAINT and PLAIN, how a terminal shows it. In place of @@KEY
# it gets the words of that key, as one word of the shell's.

home=$PWD
daemon=
begun=
exec 3<&0 < /dev/null
pages=
trap 'for each in $daemon $pages; do kill "$each"; done' EXIT

# say tells what comes next. With STEP it waits for Enter before, except at the beginning.
say() {
	if test -n "$STEP" && test -n "$begun"; then
		printf '\n%s%s%s\n' "$FAINT" @@cli.demo.enter "$PLAIN"
		read -r _ <&3 || fail @@cli.demo.ended
	fi
	begun=yes
	printf '\n%s# %s%s\n' "$FAINT" "$*" "$PLAIN"
}
prompt() { printf '%s$ %s%s\n' "$STRONG" "$*" "$PLAIN"; }
fail() { echo "$*" >&2; exit 1; }

# placet LINE shows a command line of placet's and runs it. That a request is open (3) is
# no failure.
placet() {
	prompt "placet $1"
	eval "\"\$PLACET\" $1" || test $? -eq 3
}

# watch starts the daemon, and waits until it is ready.
watch() {
	prompt 'placet watch &'
	"$PLACET" watch 2> "$home/said" &
	daemon=$!
	await 1 "^placet: .*$PWD" "$home/said"
	cat "$home/said"
}

stop() {
	kill "$daemon"
	wait "$daemon"
	daemon=
}

# await N REGEXP PATTERN waits until N files match.
await() {
	for _ in $(seq 400); do
		# shellcheck disable=SC2086 # the pattern is one
		if test "$(grep -lE "$2" $3 2> /dev/null | wc -l)" -eq "$1"; then
			return
		fi
		sleep 0.05
	done
	fail "$3" @@cli.demo.late
}

# lines N REGEXP FILE waits until N lines of a file match.
lines() {
	for _ in $(seq 400); do
		if test "$(grep -cE "$2" "$3")" -eq "$1"; then
			return
		fi
		sleep 0.05
	done
	fail "$3" @@cli.demo.late
}

# find PATTERN LINE sets form, run and request to those of the form that has a line and is
# not answered. The request is named as the inbox lists it.
find() {
	for form in $1; do
		run=${form%/requests/*}
		if grep -qF -e "$2" "$form" && ! test -e "${form%/*}/receipt.json"; then
			read -r _ _ _ request _ < "$form"
			request=$("$PLACET" inbox | grep -o "$request@[0-9a-f]*" | head -n 1)
			return
		fi
	done
	fail @@cli.demo.noform
}

# put FILE writes a file beside and renames it into place, as an editor does.
put() {
	mkdir -p "${1%/*}"
	cat > "${1%/*}/.${1##*/}.swp"
	mv "${1%/*}/.${1##*/}.swp" "$1"
}

# tick REGEXP SCRIPT edits the form, shows the lines that matter, and saves it.
tick() {
	prompt "\$EDITOR $form"
	sed "$2" "$form" > "$home/edited"
	grep -E "$1" "$home/edited" | sed 's/^ */    /'
	put "$form" < "$home/edited"
}

# show FILE FROM TO shows a file from a line that begins with FROM to the next that begins
# with TO, without its blank lines.
show() {
	prompt "cat $1"
	awk -v from="$2" -v to="$3" '
		on && to != "" && index($0, to) == 1 { exit }
		from == "" || index($0, from) == 1 { on = 1 }
		on && NF { print "    " $0 }' "$1"
}

# write FILE TEXT shows and writes a file.
write() {
	printf '    %s:\n' "$1"
	printf '%s\n' "$2" | sed 's/^/        /'
	printf '%s\n' "$2" | put "./$1"
}

# hand_in FILE hands an attempt of the session in, as a worker does.
hand_in() {
	printf '    %s: {"status": "completed"}\n' "$1"
	echo '{"status": "completed"}' | put "$session/$1"
}

# hand_over FILE TEXT hands in for the port order, as its workers do.
hand_over() {
	printf '    %s: %s\n' "$1" "$2"
	printf '%s\n' "$2" | put "$workers/order/$1"
}

case $STORY in
ask)
cd "$home/release"
mkdir "$home/bin"
ln -s "$PLACET" "$home/bin/placet"
say @@cli.demo.ask.script
echo 'eu-west first, then the rest' > plan.md
write deploy.sh 'placet ask "Deploy 1.4 to production?" --artifact plan.md --as deploy.sh --wait &&
	echo "deploying 1.4"'
prompt 'sh deploy.sh &'
PATH=$home/bin:$PATH sh deploy.sh 2>&1 &
daemon=$!
await 1 . '.asks/*/requests/*/form.md'
await 1 '"status": "open"' '.asks/*/state.json'
say @@cli.demo.ask.waits
placet inbox
find '.asks/*/requests/*/form.md' ''
if test -n "$TRY"; then
	"$PLACET" serve --listen 127.0.0.1:0 2> "$home/said" &
	pages=$!
	await 1 'http://' "$home/said"
	say @@cli.demo.try.editor
	echo "    $PWD/$form"
	say @@cli.demo.try.browser
	echo "    $("$PLACET" open "$request" --print)"
	wait "$daemon" || : # a person may say no
	daemon=
	say @@cli.demo.try.answer
else
	say @@cli.demo.ask.form
	tick '^- \[' 's/^- \[ \] \(approve\|submit this answer\)/- [x] \1/'
	wait "$daemon"
	daemon=
	say @@cli.demo.ask.answer
fi
show "$run/answer.md" '#' ''
;;
faber)
cd "$home/workspace"
runs=.fractary/faber/runs/acme-corp/proja
mkdir -p "$XDG_CONFIG_HOME/placet"
printf '[faber.issue]\nenabled = true\nauthors = ["kim"]\nrepo = "acme-corp/proja"\n' > "$XDG_CONFIG_HOME/placet/placet.toml"
say @@cli.demo.faber.paused
prompt "git init && placet init && git add . && git commit -m 'six runs wait'"
git init -q -b main
"$PLACET" init
git add -A
git commit -q -m 'six runs wait'
say @@cli.demo.faber.watch
watch
await 6 . "$runs/*/requests/*/form.md"
await 6 request_opened "$runs/*/state.json"
git add -A
git commit -q -m 'requests opened'
placet 'inbox --short'
find "$runs/*/requests/*/form.md" '- [ ] request_changes'
say @@cli.demo.faber.form
tick '^- \[' 's/^- \[ \] \(approve\|submit this answer\)/- [x] \1/'
await 1 '"in_progress"' "$run/state.json"
await 1 . "$run/resume.md"
say @@cli.demo.faber.resume
prompt 'git add -N . && git diff --stat'
git add -N .
git diff --stat=100 --stat-graph-width=20
find "$runs/*/requests/*/form.md" '- [ ] approve'
say @@cli.demo.faber.shell
placet "approve $request -m 'Ship it'"
await 1 '"in_progress"' "$run/state.json"
await 1 . "$run/resume.md"
say @@cli.demo.faber.gate
placet "faber gate ${run##*/} release:delete-branch"
find "$run/requests/*/form.md" '- [ ] confirm'
placet 'inbox --short'
say @@cli.demo.faber.passed
placet "respond $request confirm"
placet "faber gate ${run##*/} release:delete-branch --wait"
say @@cli.demo.faber.issue
prompt "cat \$XDG_CONFIG_HOME/placet/placet.toml"
sed 's/^/    /' "$XDG_CONFIG_HOME/placet/placet.toml"
find "$runs/*/requests/*/form.md" '- [ ] object_store'
show "${form%/*}/issue-comment.md" '## ' '### How'
say @@cli.demo.faber.comment
write comment.md 'object_store: it is backed up

@faber resume'
placet 'faber comment --issue 127 --author kim < comment.md'
await 1 '"accepted"' "$run/comments/*.receipt.json"
await 1 '"in_progress"' "$run/state.json"
await 1 . "$run/resume.md"
stop
;;
afl)
cd "$home/shop"
session=.afl/sessions/receipts
say @@cli.demo.afl.checkpoint
mkdir -p "$XDG_CONFIG_HOME/placet"
printf '[afl]\nshell = ["sh", "-c"]\n' > "$XDG_CONFIG_HOME/placet/placet.toml"
show $session/specs/checkpoints.yaml approved_by: ''
watch
await 1 '"edge":"start"' $session/events.jsonl
say @@cli.demo.afl.test
placet 'trust --yes'
say @@cli.demo.afl.prompt
hand_in delegations/total/iterations/1/worker.json
lines 1 '"edge":"retry_due"' $session/events.jsonl
say @@cli.demo.afl.failed
show $session/delegations/total/iterations/1/feedback.md @@afl.feedback.lines ''
write receipt.sh 'total=0
for price in "$@"; do
	total=$price
done
echo "$total"'
hand_in delegations/total/iterations/2/worker.json
await 1 '"edge":"escalate"' $session/events.jsonl
say @@cli.demo.afl.decide
show $session/delegations/total/escalation.md '### '@@afl.escalation.history '### '@@afl.escalation.pattern
placet 'inbox --short'
find "$session/requests/escalation-*/form.md" ''
say @@cli.demo.afl.more
placet "respond $request retry_more --attempts 1 -m 'Add the prices up: the last one must not win.'"
lines 2 '"edge":"retry_due"' $session/events.jsonl
say @@cli.demo.afl.hint
write receipt.sh 'total=0
for price in "$@"; do
	total=$((total + price))
done
echo "$total"'
hand_in delegations/total/iterations/3/worker.json
await 1 '"edge":"review_opened"' $session/events.jsonl
find "$session/requests/review-*/form.md" ''
say @@cli.demo.afl.accept
placet "respond $request accept"
await 1 . $session/report.md
stop
;;
optimizer)
cd "$home/import"
cycle=.mso-context/active/20261120-msowd-nightly-import/optimizer
next=.mso-context/active/20261121-msowd-nightly-import
say @@cli.demo.optimizer.figures
show $cycle/inputs/kpi.json '' ''
show $cycle/suggestions.json '' ''
watch
say @@cli.demo.optimizer.command
placet 'trust --yes'
say @@cli.demo.optimizer.report
placet "optimizer trigger nightly-import --run 20261120-msowd-nightly-import --goal 'no night without a shop'"
await 1 '"edge":"recorded"' $cycle/events.jsonl
show $cycle/level20_report.md '### ' '## '
find "$cycle/requests/hitl-*/form.md" ''
say @@cli.demo.optimizer.form
tick '^ *([0-9]\. |- \[|Ask )' 's/^\( *- \)\[ \] \(appropriate\|s1\)/\1[x] \2/
s/^- \[ \] submit/Ask the shop of night 6 why it was closed.\
\
- [x] submit/'
await 1 '"edge":"answered"' $cycle/events.jsonl
await 1 . $cycle/goal.json
say @@cli.demo.optimizer.goal
show $cycle/goal.json '{' ''
lines 2 '"outcome": "(inserted|present)"' $cycle/audit.json
"$PLACET" demo --rows .mso-context/audit_global.db
say @@cli.demo.optimizer.next
sleep 1 # it completes after the goal was set
put $next/manifest.json <<END
{"run_id": "20261121-msowd-nightly-import", "status": "completed", "tags": [], "completed_at": "$(date -u +%Y-%m-%dT%H:%M:%SZ)"}
END
await 1 . $next/optimizer/trigger.json
# The cycle's own agent has nothing to suggest, so that it comes to its request at once: what
# the daemon says of it falls into nothing that is shown next.
echo '{"suggestions": []}' | put $next/optimizer/suggestions.json
await 1 '"edge":"recorded"' $next/optimizer/events.jsonl
placet 'graph 20261121-msowd-nightly-import'
stop
;;
nemawashi)
cd "$home/team"
action=.nemawashi/actions/1
say @@cli.demo.nemawashi.mail
"$PLACET" demo --mailbox "$home/mailbox" > "$home/port" &
mailbox=$!
trap 'kill "$mailbox"; test -z "$daemon" || kill "$daemon"' EXIT
await 1 '^[0-9]+$' "$home/port"
mkdir -p "$XDG_CONFIG_HOME/placet"
printf '[nemawashi]\nmail = { provider = "smtp", smtp_host = "127.0.0.1", smtp_port = %s, smtp_tls = "none" }\n' "$(cat "$home/port")" > "$XDG_CONFIG_HOME/placet/placet.toml"
prompt "cat \$XDG_CONFIG_HOME/placet/placet.toml"
sed 's/^/    /' "$XDG_CONFIG_HOME/placet/placet.toml"
git init -q -b main
"$PLACET" init > /dev/null
watch
say @@cli.demo.nemawashi.draft
write draft.md 'Dear all,
we are late. It is your fault.'
write payload.json '{"to": "pm@acme.example", "subject": "Delay"}'
placet "nemawashi new --type mail_draft --summary 'Tell the customer' --draft draft.md --payload payload.json"
await 1 '"event_type":"approval_requested"' $action/events.jsonl
placet 'inbox --short'
find "$action/requests/apr-*/form.md" ''
say @@cli.demo.nemawashi.steer
placet "respond $request steer --select B -m 'Softer, and say what we do about it.'"
lines 2 '"event_type":"approval_requested"' $action/events.jsonl
say @@cli.demo.nemawashi.again
write draft.md 'Dear all,
we need one more week, and have hired two people to keep it at that.'
placet "nemawashi revise 1 --draft draft.md"
lines 3 '"event_type":"approval_requested"' $action/events.jsonl
find "$action/requests/apr-*/form.md" ''
say @@cli.demo.nemawashi.form
show "$form" '### ' '- **'@@form.artifact
tick '^- \[.\] (a|r|su)' 's/^- \[ \] \(approve\|submit this answer\)/- [x] \1/'
await 1 '"event_type":"execution_succeeded"' $action/events.jsonl
say @@cli.demo.nemawashi.sent
show "$home/mailbox" 'Subject' ''
placet 'nemawashi audit 1'
stop
;;
pal)
cd "$home/build"
run=.pal/orchestrations/shop
workers=$run/sessions/build
say @@cli.demo.pal.packages
write ports/order.md '> Port ID: order

Take an order, and add up its prices.'
write ports/checkout.md '> Port ID: checkout
> Depends: order

Have an order paid.'
write $run/orchestration.json '{"title": "Shop", "ports": ["order", "checkout"], "max_retries": 2}'
watch
await 1 . $workers/order/impl/inbox/try-1.md
say @@cli.demo.pal.inbox
hand_over impl/result-1.json '{"status": "ready", "summary": "adds up", "changed_files": ["order.sh"]}'
await 1 . $workers/order/test/session.json
hand_over test/feedback-1.json '{"success": false, "failed_tests": [{"name": "three prices", "suggested_fix": "count the last one"}]}'
await 1 . $workers/order/impl/inbox/try-2.md
say @@cli.demo.pal.failed
hand_over impl/result-2.json '{"status": "ready", "summary": "adds up now", "changed_files": ["order.sh"]}'
hand_over test/feedback-2.json '{"success": false, "failed_tests": [{"name": "no price", "suggested_fix": "print 0"}]}'
await 1 . "$run/requests/*/form.md"
say @@cli.demo.pal.decide
placet inbox
find "$run/requests/*/form.md" ''
run=.pal/orchestrations/shop
say @@cli.demo.pal.retry
placet "respond $request retry -m 'An order without prices costs 0.'"
await 1 . "$workers/order/impl/inbox/try-3.md"
say @@cli.demo.pal.passed
hand_over impl/result-3.json '{"status": "ready", "summary": "prints 0 for nothing", "changed_files": ["order.sh"]}'
hand_over test/feedback-3.json '{"success": true, "total_tests": 9, "passed_tests": 9}'
await 1 . $workers/checkout/impl/inbox/try-1.md
placet 'graph pal/shop'
stop
;;
esac
say @@cli.demo.end

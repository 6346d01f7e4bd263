# The demo: what it says, and what it does. placet demo runs it in a folder of its own, by
# the shell, with PLACET, the program, and STRONG, FAINT and PLAIN, how a terminal shows it.

home=$PWD
daemon=
trap 'test -z "$daemon" || kill "$daemon"' EXIT

say() { printf '\n%s# %s%s\n' "$FAINT" "$*" "$PLAIN"; }
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
	await 1 '^placet: watching' "$home/said"
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
	fail "$3 is not written in time"
}

# lines N REGEXP FILE waits until N lines of a file match.
lines() {
	for _ in $(seq 400); do
		if test "$(grep -cE "$2" "$3")" -eq "$1"; then
			return
		fi
		sleep 0.05
	done
	fail "$3 is not written in time"
}

# find PATTERN LINE sets form, run and request to those of the form that has a line and is
# not answered.
find() {
	for form in $1; do
		run=${form%/requests/*}
		if grep -qF -e "$2" "$form" && ! test -e "${form%/*}/receipt.json"; then
			read -r _ _ _ request digest _ < "$form"
			digest=${digest#sha256:}
			request=$request@$(printf '%.7s' "$digest")
			return
		fi
	done
	fail 'there is no such form'
}

# put FILE writes a file beside and renames it into place, as an editor does.
put() {
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

case $STORY in
faber)
cd "$home/workspace"
runs=.fractary/faber/runs/acme-corp/proja
say "Agents have stopped in six runs to ask a person. This is what they left, in $PWD:"
prompt "git init && placet init && git add . && git commit -m 'six runs wait'"
git init -q -b main
"$PLACET" init
git add -A
git commit -q -m 'six runs wait'
say "The daemon opens every request: a form to edit, in the run's own folder."
watch
await 6 . "$runs/*/requests/*/form.md"
await 6 request_opened "$runs/*/state.json"
git add -A
git commit -q -m 'requests opened'
say 'What is asked of you, oldest first:'
placet inbox
find "$runs/*/requests/*/form.md" '- [ ] request_changes'
say 'A reviewer opens one form, ticks an option and "submit", and saves:'
tick '^- \[' 's/^- \[ \] \(approve\|submit this answer\)/- [x] \1/'
await 1 '"in_progress"' "$run/state.json"
await 1 . "$run/resume.md"
find "$runs/*/requests/*/form.md" '- [ ] approve'
say 'The same answer from a shell:'
placet "approve $request -m 'Ship it'"
await 1 '"in_progress"' "$run/state.json"
await 1 . "$run/resume.md"
stop
say 'Every decision is in the files, and in the diff:'
prompt 'git add -N . && git diff --stat'
git add -N .
git diff --stat=120
say 'The agents read resume.md and go on. Four requests are left:'
placet status

;;
afl)
cd "$home/shop"
session=.afl/sessions/receipts
say "An AFL session, in $PWD. Kim has approved a checkpoint, and the test that tells whether it is met:"
mkdir -p "$XDG_CONFIG_HOME/placet"
printf '[afl]\nshell = ["sh", "-c"]\n' > "$XDG_CONFIG_HOME/placet/placet.toml"
show $session/specs/checkpoints.yaml approved_by: ''
say 'The daemon begins the first attempt: its prompt.md tells a worker what to do.'
watch
await 1 '"edge":"start"' $session/events.jsonl
say 'A test is a command that stands in a file: it runs only once you have agreed to it.'
placet 'trust --yes'
say 'The worker, whom this demo plays, hands in without having written anything. placet runs the test:'
hand_in delegations/total/iterations/1/worker.json
lines 1 '"edge":"retry_due"' $session/events.jsonl
say 'It failed, was classified, and a second attempt has begun. The worker reads in its prompt.md what was wrong:'
show $session/delegations/total/iterations/1/feedback.md '## Summary' '## Code examples'
say 'The worker tries again:'
write receipt.sh 'total=0
for price in "$@"; do
	total=$price
done
echo "$total"'
hand_in delegations/total/iterations/2/worker.json
await 1 '"edge":"escalate"' $session/events.jsonl
say 'Two attempts were allowed, so a person must decide. This is what you are told:'
show $session/delegations/total/escalation.md '### Basic information' '### Recommended action'
placet inbox
find "$session/requests/escalation-*/form.md" ''
say 'You give it one more attempt, and a hint for the worker:'
placet "respond $request retry_more --attempts 1 -m 'Add the prices up: the last one must not win.'"
lines 2 '"edge":"retry_due"' $session/events.jsonl
say 'The worker finds the hint in its third prompt.md:'
show $session/delegations/total/iterations/2/feedback.md '## Note' ''
write receipt.sh 'total=0
for price in "$@"; do
	total=$((total + price))
done
echo "$total"'
hand_in delegations/total/iterations/3/worker.json
await 1 '"edge":"review_opened"' $session/events.jsonl
find "$session/requests/review-*/form.md" ''
say 'It passed. With every checkpoint over, a person looks at the whole:'
placet "respond $request accept"
await 1 . $session/report.md
placet 'show receipts'
stop

;;
optimizer)
cd "$home/import"
cycle=.mso-context/active/20261120-msowd-nightly-import/optimizer
next=.mso-context/active/20261121-msowd-nightly-import
say "An optimisation cycle, in $PWD: how well does a workflow do, and what is to change? An agent left what it knows:"
show $cycle/inputs/kpi.json '' ''
show $cycle/suggestions.json '' ''
watch
say 'The settings name a command that analyses the workflow. It runs once you have agreed to it:'
placet 'trust --yes'
say 'You ask for a look at the workflow:'
placet "optimizer trigger nightly-import --run 20261120-msowd-nightly-import --goal 'no night without a shop'"
await 1 '"edge":"recorded"' $cycle/events.jsonl
say 'placet decided on level 20, ran the analysis, and wrote a report. It found:'
show $cycle/level20_report.md '### Trends' '## Improvement'
find "$cycle/requests/hitl-*/form.md" ''
say 'A person answers three questions in one form: the level was right, a suggestion is taken up, and something is left to do.'
tick '^ *([0-9]\. |- \[|Ask )' 's/^\( *- \)\[ \] \(appropriate\|s1\)/\1[x] \2/
s/^- \[ \] submit/Ask the shop of night 6 why it was closed.\
\
- [x] submit/'
await 1 '"edge":"answered"' $cycle/events.jsonl
await 1 . $cycle/goal.json
say 'The answer is the goal of the next cycle:'
show $cycle/goal.json '{' ''
lines 2 '"outcome": "(inserted|present)"' $cycle/audit.json
"$PLACET" demo --rows .mso-context/audit_global.db
say 'Something was left to do. When the workflow has run again, that begins the next cycle:'
placet 'optimizer next'
sleep 1 # it completes after the goal was set
put $next/manifest.json <<END
{"run_id": "20261121-msowd-nightly-import", "status": "completed", "tags": [], "completed_at": "$(date -u +%Y-%m-%dT%H:%M:%SZ)"}
END
await 1 . $next/optimizer/trigger.json
# The cycle's own agent has nothing to suggest, so that it comes to its request at once: what
# the daemon says of it falls into nothing that is shown next.
echo '{"suggestions": []}' | put $next/optimizer/suggestions.json
await 1 '"edge":"recorded"' $next/optimizer/events.jsonl
show $next/optimizer/trigger.json '{' ''
placet 'graph 20261121-msowd-nightly-import'
stop
;;
nemawashi)
cd "$home/team"
action=.nemawashi/actions/1
say "An agent wants a mail sent. Here is a mailbox for it, and the settings that name its server, outside of $PWD:"
"$PLACET" demo --mailbox "$home/mailbox" > "$home/port" &
mailbox=$!
trap 'kill "$mailbox"; test -z "$daemon" || kill "$daemon"' EXIT
await 1 '^[0-9]+$' "$home/port"
mkdir -p "$XDG_CONFIG_HOME/placet"
printf '[nemawashi]\nmail = { provider = "smtp", smtp_host = "127.0.0.1", smtp_port = %s, smtp_tls = "none" }\n' "$(cat "$home/port")" > "$XDG_CONFIG_HOME/placet/placet.toml"
prompt "cat \$XDG_CONFIG_HOME/placet/placet.toml"
sed 's/^/    /' "$XDG_CONFIG_HOME/placet/placet.toml"
prompt 'git init && placet init'
git init -q -b main
"$PLACET" init
watch
say 'The agent drafts the mail. Nothing is sent: a person is asked first.'
write draft.md 'Dear all,
we are late. It is your fault.'
write payload.json '{"to": "pm@acme.example", "subject": "Delay"}'
placet "nemawashi new --type mail_draft --summary 'Tell the customer' --draft draft.md --payload payload.json"
await 1 '"event_type":"approval_requested"' $action/events.jsonl
placet inbox
find "$action/requests/apr-*/form.md" ''
say 'You ask for changes. That sends nothing, and asks again:'
placet "steer $request --plan B -m 'Softer, and say what we do about it.'"
lines 2 '"event_type":"approval_requested"' $action/events.jsonl
show $action/drafts/v2.md '' ''
say 'The agent brings another text, which takes the place of what was asked:'
write draft.md 'Dear all,
we need one more week, and have hired two people to keep it at that.'
placet "nemawashi revise 1 --draft draft.md"
lines 3 '"event_type":"approval_requested"' $action/events.jsonl
find "$action/requests/apr-*/form.md" ''
say 'The form shows all that would be sent, and you approve it in an editor:'
show "$form" '### Part' '- **Artifact'
tick '^- \[' 's/^- \[ \] \(approve\|submit this answer\)/- [x] \1/'
await 1 '"event_type":"execution_succeeded"' $action/events.jsonl
say 'It has arrived, once:'
show "$home/mailbox" '' ''
placet 'nemawashi audit 1'
placet 'nemawashi runs'
stop
;;
esac
say 'That was all: files, and a clerk who keeps them. Begin with `placet init` and `placet watch`.'

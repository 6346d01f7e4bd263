"""A client of the seed document nemawashi-hitl.md, in nothing but Python's standard library.

It knows the endpoints, bodies and answers that the document lists, Slack's signature and payloads, and nothing of placet;
only the path that makes an action is placet's, because the document says "API" and names none. It brings an action into
every status of the document, checks every answer on the way, and prints as JSON what it has seen.

Usage: seed_client.py BASE_URL TOKEN SIGNING_SECRET SLACK_URL HR_URL
SLACK_URL/posted lists the calls that Slack has got; HR_URL/release lets the HR service answer.
"""
import hashlib
import hmac
import json
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

BASE, TOKEN, SECRET, SLACK, HR = sys.argv[1:6]
seen = set()


def http(method, url, body=None, headers=None):
    """Returns the status and the decoded answer of a call."""
    request = urllib.request.Request(url, data=body, method=method, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as refused:
        return refused.code, json.loads(refused.read() or b"null")


def api(method, path, body=None):
    headers = {"Authorization": "Bearer " + TOKEN}
    if body is not None:
        headers["Content-Type"] = "application/json"
        body = json.dumps(body).encode()
    return http(method, BASE + "/api/v1" + path, body, headers)


def check(what, ok, got):
    if not ok:
        raise SystemExit("%s: %s" % (what, json.dumps(got, ensure_ascii=False)))


def ok(what, answer, *members):
    status, got = answer
    check(what, status == 200 and (not members or set(members) <= set(got)), answer)
    return got


def until(what, look):
    for _ in range(1200):
        got = look()
        if got:
            return got
        time.sleep(0.05)
    raise SystemExit("waited in vain: " + what)


def status_of(action):
    """The action's status according to the history."""
    for status in STATUSES:
        for thread in ok("history", api("GET", "/history?status=%s&limit=500" % status)):
            check("history", set(thread) >= {"thread_id", "action_id", "status", "summary", "project_id"}, thread)
            if thread["action_id"] == action:
                check("history by status", thread["status"] == status, thread)
                seen.add(status)
                return status
    return None


STATUSES = ["pending", "drafted", "approval_pending", "approved", "executing", "executed", "rejected", "failed"]


def begin(kind, summary, **more):
    got = ok("begin", api("POST", "/nemawashi", dict({"type": kind, "summary": summary}, **more)), "action_id", "thread_id", "status")
    check("thread", got["thread_id"] == "action-%d" % got["action_id"], got)
    seen.add(got["status"])
    check("drafted", status_of(got["action_id"]) == "drafted", got)
    return got["action_id"]


def request(action):
    got = ok("request-approval", api("POST", "/nemawashi/%d/request-approval" % action), "thread_id", "approval_request_id", "status", "action_id", "slack")
    check("approval", got["approval_request_id"].startswith("apr-") and len(got["approval_request_id"]) == 16 and got["action_id"] == action, got)
    check("slack", got["slack"] and set(got["slack"]) == {"channel", "message_ts", "thread_ts"}, got)
    check("pending", got["status"] == "approval_pending" == status_of(action), got)
    return got


def execute(action, body=None):
    return api("POST", "/nemawashi/%d/execute" % action, body or {})


def job(what, answer, status):
    got = ok(what, answer, "job_id", "status", "thread_id", "action_id")
    check(what, got["status"] == status, got)
    return got


def audit(action):
    got = ok("audit", api("GET", "/audit/action-%d" % action), "thread_id", "events")
    return [event["event_type"] for event in got["events"]]


def posted():
    return http("GET", SLACK + "/posted")[1]


def buttons(thread):
    """The buttons of the last message of Slack about a thread, by action id."""
    found = {}
    for call in posted():
        for block in call["body"].get("blocks", []):
            for element in block.get("elements", []):
                if ("thread_id=%s|" % thread) in str(element.get("value")):
                    found[element["action_id"]] = element
    return found


def slack(path, body, kind="application/json"):
    at = str(int(time.time()))
    sign = "v0=" + hmac.new(SECRET.encode(), b"v0:" + at.encode() + b":" + body, hashlib.sha256).hexdigest()
    return http("POST", BASE + "/api/slack/" + path, body, {"Content-Type": kind, "X-Slack-Request-Timestamp": at, "X-Slack-Signature": sign})


def interact(payload):
    return slack("interactions", urllib.parse.urlencode({"payload": json.dumps(payload)}).encode(), "application/x-www-form-urlencoded")


def press(got, button):
    """Presses a button of the message about an approval, as Slack reports it."""
    here = until("the buttons of " + got["thread_id"], lambda: buttons(got["thread_id"]))
    check("three buttons", set(here) == {"hitl_approve", "hitl_reject", "hitl_request_changes"}, here)
    value = dict(part.split("=", 1) for part in here[button]["value"].split("|"))
    check("the value", value["approval_request_id"] == got["approval_request_id"] and value["action_id"] == str(got["action_id"]), value)
    return interact({
        "type": "block_actions", "user": {"id": "U1"}, "channel": {"id": got["slack"]["channel"]}, "message": {"ts": got["slack"]["message_ts"]},
        "trigger_id": "t1", "actions": [{"action_id": button, "value": here[button]["value"], "action_ts": "%.6f" % time.time()}],
    })


def reply(got, text):
    return slack("events", json.dumps({"type": "event_callback", "event_id": "Ev%d" % time.time_ns(), "event": {
        "type": "message", "user": "U1", "text": text, "channel": got["slack"]["channel"], "ts": "%.6f" % time.time(), "thread_ts": got["slack"]["thread_ts"],
    }}).encode())


def another(got):
    """The approval that takes the place of another one."""
    def look():
        for call in reversed(posted()):
            for block in call["body"].get("blocks", []):
                for element in block.get("elements", []):
                    value = dict(part.split("=", 1) for part in str(element.get("value")).split("|") if "=" in part)
                    if value.get("thread_id") == got["thread_id"] and value["approval_request_id"] != got["approval_request_id"]:
                        return value["approval_request_id"]
    return until("another approval of " + got["thread_id"], look)


def over_http():
    mail = begin("mail_draft", "Tell the team", draft='Dear all,\nwe are late.\n{"to": "pm@acme.example", "subject": "Delay"}')
    early = execute(mail)
    check("execute before approval", early[0] == 409, early)
    first = request(mail)
    steered = ok("steer", api("POST", "/approvals/%s/steer" % first["approval_request_id"], {"feedback": "softer tone", "selectedPlan": "B", "idempotencyKey": "k1"}),
                 "thread_id", "approval_request_id", "status", "action_id", "slack")
    check("another approval", steered["approval_request_id"] != first["approval_request_id"] and steered["slack"], steered)
    check("its own message", steered["slack"]["message_ts"] != first["slack"]["message_ts"] and steered["slack"]["thread_ts"] == first["slack"]["thread_ts"], steered)
    again = ok("the same steer", api("POST", "/approvals/%s/steer" % first["approval_request_id"], {"feedback": "softer tone", "selectedPlan": "B", "idempotencyKey": "k1"}))
    check("the same steer", again["approval_request_id"] == steered["approval_request_id"], again)
    old = api("POST", "/approvals/%s/approve" % first["approval_request_id"], {})
    check("the old approval", old[0] == 409, old)
    job("approve", api("POST", "/approvals/%s/approve" % steered["approval_request_id"], {}), "approved")
    check("approved", status_of(mail) == "approved", mail)
    done = job("execute", execute(mail), "executed")
    check("a job", done["job_id"].startswith("job-") and len(done["job_id"]) == 16, done)
    check("executed", status_of(mail) == "executed", mail)
    check("execute again", job("execute again", execute(mail), "executed")["job_id"] == done["job_id"], done)
    events = ["approval_requested", "human_feedback_received", "approval_requested", "approval_approved", "execution_started", "execution_succeeded"]
    check("the audit", audit(mail) == events, audit(mail))

    no = request(begin("mail_draft", "Do not"))
    check("reject", api("POST", "/approvals/%s/reject" % no["approval_request_id"]) == (200, {"status": "rejected"}), no)
    check("rejected", status_of(no["action_id"]) == "rejected" and audit(no["action_id"])[-1] == "approval_rejected", no)

    bad = request(begin("meeting_request", "Meet"))
    job("approve", api("POST", "/approvals/%s/approve" % bad["approval_request_id"], {}), "approved")
    job("a simulated failure", execute(bad["action_id"], {"simulateFailure": True}), "failed")
    check("failed", status_of(bad["action_id"]) == "failed" and audit(bad["action_id"])[-1] == "execution_failed", bad)


def executing():
    slow = request(begin("hr_request", "A day off", payload={"days": 1}))
    job("approve", api("POST", "/approvals/%s/approve" % slow["approval_request_id"]), "approved")
    answers = []
    caller = threading.Thread(target=lambda: answers.append(execute(slow["action_id"])))
    caller.start()
    until("it is executing", lambda: status_of(slow["action_id"]) == "executing")
    http("GET", HR + "/release")
    caller.join()
    check("execute", answers and answers[0][0] in (200, 202), answers)
    until("it is executed", lambda: status_of(slow["action_id"]) == "executed")


def moved():
    """The meeting is moved by the calendar of execute: a person is asked about what differs."""
    meeting = request(begin("meeting_request", "Meet them", payload={"attendee": "pm@acme.example", "title": "Delay"}))
    job("approve", api("POST", "/approvals/%s/approve" % meeting["approval_request_id"]), "approved")
    calendar = {"attendee": "pm@acme.example", "title": "Delay", "startAt": "2030-01-07T10:00:00+09:00", "endAt": "2030-01-07T11:00:00+09:00"}
    status, got = execute(meeting["action_id"], {"calendar": calendar})
    check("another calendar", status == 409 and got["approval_request_id"].startswith("apr-"), got)
    job("approve what is shown", api("POST", "/approvals/%s/approve" % got["approval_request_id"]), "approved")
    job("execute", execute(meeting["action_id"], {"calendar": calendar}), "executed")


def over_slack():
    check("the handshake", slack("events", json.dumps({"type": "url_verification", "challenge": "abc123"}).encode()) == (200, {"challenge": "abc123"}), None)
    unsigned = http("POST", BASE + "/api/slack/events", b"{}", {"Content-Type": "application/json"})
    check("without a signature", unsigned[0] == 401, unsigned)

    yes = request(begin("mail_draft", "Slack says yes"))
    check("approve", press(yes, "hitl_approve") == (200, {"text": "approved"}), yes)
    until("it is approved", lambda: status_of(yes["action_id"]) == "approved")
    no = request(begin("mail_draft", "Slack says no"))
    check("reject", press(no, "hitl_reject") == (200, {"text": "rejected"}), no)
    until("it is rejected", lambda: status_of(no["action_id"]) == "rejected")

    changes = request(begin("mail_draft", "Slack asks for changes"))
    answer = press(changes, "hitl_request_changes")
    check("request changes", answer[0] == 200, answer)
    thread = request(begin("mail_draft", "Slack replies"))
    check("a reply", reply(thread, "プランAで、もう少し短く")[0] == 200, thread)
    anew = another(thread)
    check("the approval of the old draft", api("POST", "/approvals/%s/approve" % thread["approval_request_id"])[0] == 409, anew)
    job("approve", api("POST", "/approvals/%s/approve" % anew), "approved")


over_http()
moved()
executing()
over_slack()
print(json.dumps(sorted(seen)))

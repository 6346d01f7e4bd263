package main

// These are the documents of a run as upstream's scripts leave them.
const (
	waitingText = `{
  "run_id": "{run}",
  "work_id": "{n}",
  "workflow_version": "2.1",
  "status": "awaiting_feedback",
  "current_phase": "architect",
  "last_event_id": {events},
  "started_at": "2026-11-20T10:25:41.668Z",
  "updated_at": "2026-11-20T10:25:42Z",
  "completed_at": null,
  "phases": {
    "frame": {
      "status": "completed",
      "steps": [
        {
          "name": "fetch-issue",
          "status": "completed"
        }
      ]
    },
    "architect": {
      "status": "in_progress",
      "steps": [
        {
          "name": "generate-spec",
          "status": "completed"
        },
        {
          "name": "design-review",
          "status": "in_progress",
          "started_at": "2026-11-20T10:25:41Z"
        }
      ]
    },
    "build": {
      "status": "pending",
      "steps": []
    },
    "evaluate": {
      "status": "pending",
      "steps": [],
      "retry_count": 0
    },
    "release": {
      "status": "pending",
      "steps": []
    }
  },
  "artifacts": {
    "spec_path": "specs/design.md"
  },
  "errors": [],
  "current_step": "design-review",
  "feedback_request": {
    "request_id": "{request}",
    "type": "approval",
    "prompt": "Please review the design of {n} and approve to proceed.",
    "options": [
      "approve",
      "reject",
      "request_changes"
    ],
    "context": {
      "summary": "3-layer architecture",
      "artifact_path": "specs/design.md"
    },
    "requested_at": "2026-11-20T10:25:42Z",
    "notification_sent": {
      "cli": true,
      "issue_comment": false,
      "comment_url": null
    }
  },
  "resume_point": {
    "phase": "architect",
    "step": "design-review",
    "step_index": 1
  }
}
`

	completedText = `{
  "run_id": "{run}",
  "work_id": "{n}",
  "workflow_version": "2.1",
  "status": "completed",
  "current_phase": "release",
  "last_event_id": {events},
  "started_at": "2026-11-19T10:25:41.668Z",
  "updated_at": "2026-11-19T11:25:42Z",
  "completed_at": "2026-11-19T11:25:42Z",
  "phases": {
    "frame": {"status": "completed", "steps": [{"name": "fetch-issue", "status": "completed"}]},
    "architect": {"status": "completed", "steps": [{"name": "design-review", "status": "completed"}]},
    "build": {"status": "completed", "steps": [{"name": "implement", "status": "completed"}]},
    "evaluate": {"status": "completed", "steps": [{"name": "test", "status": "completed"}], "retry_count": 0},
    "release": {"status": "completed", "steps": [{"name": "merge-pr", "status": "completed"}]}
  },
  "artifacts": {
    "spec_path": "specs/design.md"
  },
  "errors": [],
  "revision": 2,
  "feedback_history": [
    {
      "request_id": "{request}",
      "request_type": "approval",
      "response": "approve",
      "provided_by": {"user": "jmcwilliam", "source": "cli"},
      "received_at": "2026-11-19T10:40:00Z",
      "action": "continue"
    }
  ]
}
`

	metadataText = `{
  "run_id": "{run}",
  "work_id": "{n}",
  "target": "t-{n}",
  "workflow_id": "default",
  "autonomy": "guarded",
  "source_type": "github",
  "phases": ["frame", "architect", "build", "evaluate", "release"],
  "created_at": "2026-11-20T10:25:41.520Z",
  "created_by": "unknown",
  "relationships": {
    "parent_run_id": null,
    "rerun_of": null,
    "child_runs": []
  }
}
`

	eventText = `{
  "event_id": {n},
  "type": "{type}",
  "timestamp": "2026-11-20T10:25:41.668Z",
  "run_id": "{run}",
  "phase": "architect",
  "step": "design-review",
  "user": "unknown",
  "source": "emit-event.sh",
  "message": "Step {n} of {events}"
}
`

	oldRequestText = `{
  "schema_version": 1,
  "request_id": "{request}",
  "family": "faber",
  "run": "{run}",
  "type": "approval",
  "prompt": "Please review the design of {n} and approve to proceed.",
  "options": [
    {"id": "approve", "description": "Continue to next phase"},
    {"id": "reject", "description": "Cancel this workflow run"}
  ],
  "comment_required": [],
  "items": [],
  "context": {},
  "artifacts": [],
  "requested_at": "2026-11-19T10:25:42Z",
  "deadline": null,
  "default": null,
  "may_answer": [],
  "revision": 1
}
`

	oldReceiptText = `{
  "schema_version": 1,
  "request_id": "{request}",
  "result": "accepted",
  "response": "approve",
  "selected": [],
  "comment": "",
  "late": false,
  "provided_by": {"user": "jmcwilliam", "source": "cli"},
  "known_as": ["claimed:jmcwilliam"],
  "answer": null,
  "digest": "",
  "received_at": "2026-11-19T10:40:00Z",
  "decided_at": "2026-11-19T10:40:00.000Z",
  "reason": "",
  "revision": 2
}
`
)

-- The tables that rows of placet get into, written down a second time from the
-- format page alone. A row that fits the one must fit the other.
PRAGMA foreign_keys = ON;
CREATE TABLE audit_logs (
  id TEXT NOT NULL, date DATE NOT NULL, task_name TEXT NOT NULL, mode TEXT NOT NULL, action TEXT NOT NULL,
  input_path TEXT, output_path TEXT, script_path TEXT, status TEXT NOT NULL DEFAULT 'in_progress',
  notes TEXT, context_for_next TEXT, continuation_hint TEXT,
  transition_repeated INTEGER NOT NULL DEFAULT 0, transition_reuse INTEGER NOT NULL DEFAULT 0,
  transition_decision INTEGER NOT NULL DEFAULT 0,
  work_type TEXT, triggered_by TEXT, duration_sec REAL, files_affected TEXT, sprint TEXT, pattern_tag TEXT,
  session_id TEXT, intent TEXT,
  created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (id),
  CONSTRAINT "id names a task" CHECK (id LIKE 'TASK-%' AND length(trim(id)) > 5),
  CONSTRAINT "task_name is not blank" CHECK (length(trim(task_name)) > 0),
  CONSTRAINT "mode is not blank" CHECK (length(trim(mode)) > 0),
  CONSTRAINT "action is not blank" CHECK (length(trim(action)) > 0),
  CONSTRAINT "status is known" CHECK (status IN ('success', 'fail', 'in_progress')),
  CONSTRAINT "transitions are flags" CHECK (transition_repeated IN (0, 1) AND transition_reuse IN (0, 1)
    AND transition_decision IN (0, 1)),
  CONSTRAINT "work_type is known" CHECK (work_type IS NULL
    OR work_type IN ('execution', 'modification', 'structure', 'document', 'skill', 'error', 'review')),
  CONSTRAINT "triggered_by is known" CHECK (triggered_by IS NULL OR triggered_by IN ('user_request', 'auto', 'hook'))
);
CREATE TABLE user_feedback (
  id TEXT NOT NULL, date DATE NOT NULL, user_id TEXT, feedback_text TEXT NOT NULL, source_ref_path TEXT,
  impact_domain TEXT NOT NULL DEFAULT 'workflow', impact_summary TEXT, reversibility TEXT, related_audit_id TEXT,
  created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (id),
  FOREIGN KEY (related_audit_id) REFERENCES audit_logs (id) ON DELETE SET NULL,
  CHECK (id LIKE 'FB-%' AND length(trim(id)) > 3),
  CHECK (length(trim(feedback_text)) > 0),
  CHECK (length(trim(impact_domain)) > 0),
  CHECK (reversibility IS NULL OR reversibility IN ('High', 'Medium', 'Low'))
);
CREATE TABLE decisions (
  id TEXT NOT NULL, date DATE NOT NULL, title TEXT NOT NULL, context TEXT, decision_content TEXT, requested_by TEXT,
  approved_by TEXT, related_audit_id TEXT,
  created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (id),
  FOREIGN KEY (related_audit_id) REFERENCES audit_logs (id) ON DELETE SET NULL,
  CHECK (id LIKE 'DEC-%' AND length(trim(id)) > 4),
  CHECK (length(trim(title)) > 0)
);
CREATE TABLE evidence (
  id INTEGER PRIMARY KEY AUTOINCREMENT, decision_id TEXT NOT NULL, type TEXT NOT NULL, ref_path TEXT NOT NULL,
  description TEXT,
  FOREIGN KEY (decision_id) REFERENCES decisions (id) ON DELETE CASCADE,
  CHECK (length(trim(type)) > 0)
);
CREATE TABLE impacts (
  id INTEGER PRIMARY KEY AUTOINCREMENT, decision_id TEXT NOT NULL, domain TEXT NOT NULL, description TEXT,
  reversibility TEXT,
  FOREIGN KEY (decision_id) REFERENCES decisions (id) ON DELETE CASCADE,
  CHECK (length(trim(domain)) > 0),
  CHECK (reversibility IS NULL OR reversibility IN ('High', 'Medium', 'Low'))
);
CREATE TRIGGER user_feedback_ai AFTER INSERT ON user_feedback BEGIN
  INSERT INTO decisions (id, date, title, context, decision_content, requested_by, approved_by, related_audit_id)
  SELECT 'DEC-' || NEW.id, NEW.date, '[AUTO] user feedback decision: ' || NEW.id, 'auto-generated from user_feedback',
    NEW.feedback_text, ifnull(NEW.user_id, 'user'), 'auto-feedback-rule', NEW.related_audit_id;
  INSERT INTO evidence (decision_id, type, ref_path, description)
  SELECT 'DEC-' || NEW.id, 'user_feedback', ifnull(NEW.source_ref_path, 'feedback:' || NEW.id), NEW.feedback_text;
  INSERT INTO impacts (decision_id, domain, description, reversibility)
  SELECT 'DEC-' || NEW.id, NEW.impact_domain, ifnull(NEW.impact_summary, NEW.feedback_text), ifnull(NEW.reversibility, 'Medium');
END;

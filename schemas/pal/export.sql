-- The database that `placet pal export` makes: a copy for whoever wants SQL. The
-- tables of channels and messages are those of the seed; sessions and escalations have
-- the members of their documents as columns.
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY,
    type TEXT NOT NULL,
    title TEXT,
    port_id TEXT,
    parent_id TEXT,
    root_id TEXT,
    depth INTEGER,
    path TEXT,
    agent_id TEXT,
    token_budget INTEGER,
    status TEXT,
    substatus TEXT,
    started_at DATETIME,
    ended_at DATETIME
);

CREATE TABLE IF NOT EXISTS direct_channels (
    id TEXT PRIMARY KEY,
    session_a TEXT NOT NULL,
    session_b TEXT NOT NULL,
    status TEXT DEFAULT 'active',
    created_at DATETIME DEFAULT CURRENT_TIMESTAMP,
    FOREIGN KEY (session_a) REFERENCES sessions(id),
    FOREIGN KEY (session_b) REFERENCES sessions(id)
);

CREATE TABLE IF NOT EXISTS direct_messages (
    id TEXT PRIMARY KEY,
    channel_id TEXT NOT NULL,
    from_session TEXT NOT NULL,
    to_session TEXT NOT NULL,
    message_type TEXT NOT NULL,
    payload TEXT,
    delivered_at DATETIME,
    created_at DATETIME DEFAULT CURRENT_TIMESTAMP,
    FOREIGN KEY (channel_id) REFERENCES direct_channels(id)
);

CREATE TABLE IF NOT EXISTS escalations (
    id TEXT PRIMARY KEY,
    orchestration_id TEXT NOT NULL,
    session_id TEXT,
    port_id TEXT,
    type TEXT NOT NULL,
    reported_type TEXT,
    severity TEXT NOT NULL,
    title TEXT NOT NULL,
    description TEXT,
    context TEXT,
    suggested_actions TEXT,
    auto_resolve INTEGER NOT NULL,
    status TEXT NOT NULL,
    request_id TEXT,
    created_at DATETIME,
    resolved_by TEXT,
    resolved_at DATETIME,
    resolution TEXT,
    comment TEXT
);

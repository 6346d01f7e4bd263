-- The tables of the seed document pal-agent-workflow.md, section 3.1, as they stand there.
CREATE TABLE direct_channels (
    id TEXT PRIMARY KEY,
    session_a TEXT NOT NULL,
    session_b TEXT NOT NULL,
    status TEXT DEFAULT 'active',
    created_at DATETIME DEFAULT CURRENT_TIMESTAMP,
    FOREIGN KEY (session_a) REFERENCES sessions(id),
    FOREIGN KEY (session_b) REFERENCES sessions(id)
);

CREATE TABLE direct_messages (
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

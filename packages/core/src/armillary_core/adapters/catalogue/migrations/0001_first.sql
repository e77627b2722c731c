-- Text is UTF-8, paths and roots are bytes, hashes are raw bytes, times are seconds since the epoch.

CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO counter VALUES ('revision', 0), ('document', 0), ('vector_epoch', 0);

CREATE TABLE remembered (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE secret (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;

CREATE TABLE project (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    root BLOB NOT NULL,
    private INTEGER NOT NULL DEFAULT 0,
    settings TEXT NOT NULL DEFAULT '{}',
    state TEXT NOT NULL DEFAULT 'new',
    state_reason TEXT,
    listing TEXT,
    device INTEGER,
    last_good_scan REAL,
    -- Totals over present documents, kept exact by every write.
    documents INTEGER NOT NULL DEFAULT 0,
    chunks INTEGER NOT NULL DEFAULT 0,      -- card chunks included
    tokens INTEGER NOT NULL DEFAULT 0,      -- their lengths together
    texts INTEGER NOT NULL DEFAULT 0,       -- those that deserve a vector
    -- The average length that the chunk index was told, and how many documents it came from.
    indexed_average REAL,
    average_documents INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE skipped (
    project INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    path BLOB NOT NULL,
    rule TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (project, path)
) WITHOUT ROWID;

-- pk comes from the counter and is never given twice.
CREATE TABLE document (
    pk INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project (id),
    path BLOB NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,                 -- as a signed 64-bit number
    verified_at REAL NOT NULL,
    first_seen REAL NOT NULL,
    present INTEGER NOT NULL,               -- 0 = desync
    pending INTEGER NOT NULL,
    state TEXT NOT NULL,
    enrichment INTEGER NOT NULL,            -- 0 none, 1 of this content, 2 of older content
    revision INTEGER NOT NULL,              -- of the last change to any of its chunks
    content_revision INTEGER NOT NULL,
    card_revision INTEGER NOT NULL,
    chapters INTEGER NOT NULL,
    chunks INTEGER NOT NULL,                -- without the card chunk
    lines INTEGER NOT NULL,
    content_hash BLOB,
    extraction BLOB,                        -- digest of everything that extraction said
    media_type TEXT NOT NULL,
    charset TEXT,
    language TEXT,
    locale TEXT,
    version TEXT,
    type TEXT,                              -- as shown: enrichment first, else the base layer
    date TEXT,                              -- as shown
    title TEXT,
    title_order TEXT,                       -- title without case and accents
    reason TEXT,
    diverged_from TEXT                      -- JSON list of pks
);
CREATE UNIQUE INDEX document_path ON document (project, path);
CREATE INDEX document_hash ON document (content_hash) WHERE content_hash IS NOT NULL;
CREATE INDEX document_revision ON document (revision);
CREATE INDEX document_diverged ON document (pk) WHERE diverged_from IS NOT NULL;

CREATE TABLE base_layer (
    document INTEGER PRIMARY KEY REFERENCES document (pk) ON DELETE CASCADE,
    layer TEXT NOT NULL                     -- JSON [headings, summary, keywords, date, type]
);

CREATE TABLE card (
    document INTEGER PRIMARY KEY REFERENCES document (pk) ON DELETE CASCADE,
    type TEXT,
    summary TEXT,
    keywords TEXT NOT NULL,                 -- JSON list
    headings TEXT NOT NULL,                 -- JSON list
    date TEXT,
    enriched_at REAL NOT NULL,
    enriched_by TEXT NOT NULL,
    content_hash BLOB
);

CREATE TABLE card_event (
    id INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES document (pk) ON DELETE CASCADE,
    at REAL NOT NULL,
    by TEXT NOT NULL,
    change TEXT NOT NULL                    -- JSON object
);
CREATE INDEX card_event_document ON card_event (document, id);

CREATE TABLE text (
    document INTEGER PRIMARY KEY REFERENCES document (pk) ON DELETE CASCADE,
    body BLOB NOT NULL                      -- zlib
);

CREATE TABLE outline (
    document INTEGER PRIMARY KEY REFERENCES document (pk) ON DELETE CASCADE,
    chapters BLOB NOT NULL                  -- JSON, zlib when that is shorter
);

CREATE TABLE chapter_name (
    document INTEGER NOT NULL REFERENCES document (pk) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    name TEXT NOT NULL,                     -- without case and accents
    PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;

-- key = document pk << 20 | ordinal, as in every engine; the card chunk has the highest ordinal.
CREATE TABLE chunk (
    key INTEGER PRIMARY KEY,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    length INTEGER NOT NULL,                -- tokens, repetitions counted
    text_hash BLOB,                         -- NULL: deserves no vector
    breadcrumb TEXT NOT NULL,
    spans BLOB NOT NULL,                    -- chapter, start, end as 32-bit numbers
    ids BLOB NOT NULL,                      -- token ids as 32-bit numbers
    counts BLOB NOT NULL                    -- empty: each once; else 8 or 16 bits each
);
CREATE INDEX chunk_text ON chunk (text_hash) WHERE text_hash IS NOT NULL;

CREATE TABLE model (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE);

CREATE TABLE chunk_vector (
    id INTEGER PRIMARY KEY,
    model INTEGER NOT NULL REFERENCES model (id),
    text_hash BLOB NOT NULL,
    vector BLOB NOT NULL                    -- float32, little-endian
);
CREATE UNIQUE INDEX chunk_vector_text ON chunk_vector (model, text_hash);

CREATE TABLE term (
    token INTEGER NOT NULL,
    project INTEGER NOT NULL,
    word TEXT NOT NULL,                     -- a form in which it was written
    chunks INTEGER NOT NULL,
    PRIMARY KEY (token, project)
) WITHOUT ROWID;
CREATE INDEX term_word ON term (project, word);
CREATE INDEX term_ending ON term (project, substr(word, -2), length(word));

CREATE TABLE language (
    project INTEGER NOT NULL,
    language TEXT NOT NULL,
    documents INTEGER NOT NULL,
    PRIMARY KEY (project, language)
) WITHOUT ROWID;

-- A row outlives its document: the engine must hear that it is gone.
CREATE TABLE outbox (
    engine TEXT NOT NULL,
    document INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    PRIMARY KEY (engine, document)
) WITHOUT ROWID;
CREATE INDEX outbox_order ON outbox (engine, attempts, revision);

CREATE TABLE job (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    project TEXT NOT NULL,
    mode TEXT NOT NULL,
    state TEXT NOT NULL,
    done INTEGER NOT NULL DEFAULT 0,
    total INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    created_at REAL NOT NULL,
    started_at REAL,
    finished_at REAL,
    result TEXT,
    asked_by TEXT NOT NULL DEFAULT '',
    worker TEXT,
    lease_until REAL
);
CREATE INDEX job_open ON job (state, id) WHERE state IN ('waiting', 'running');

CREATE TABLE generation (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    engine TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at REAL NOT NULL,
    expected INTEGER NOT NULL DEFAULT 0,
    present INTEGER NOT NULL DEFAULT 0,
    counted_at REAL
);
CREATE UNIQUE INDEX generation_current ON generation (engine) WHERE state = 'current';

CREATE TABLE token (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    digest TEXT NOT NULL UNIQUE,
    rights TEXT NOT NULL,
    projects TEXT,                          -- JSON list; NULL = all shared projects
    created_at REAL NOT NULL,
    expires_at REAL,
    last_seen REAL
);

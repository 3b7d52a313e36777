#!/usr/bin/env python3
"""Writes the databases of this directory, and their rows as rows.json."""
import json, os, shutil, sqlite3

def fill(db, first, last):
    for i in range(first, last):
        db.execute('INSERT INTO notes (id, "the text", n, x) VALUES (?, ?, ?, ?)', row(i))

def row(i):
    text = None if i % 11 == 0 else ("é%d " % i) * (i * 37 % 130)
    n = [0, 1, -1, 127, -128, 40_000, -9_000_000, 2**40, -2**62, i][i % 10]
    return ("n%05d" % i, text, n, i / 3)

def make(name, wal, rows):
    for end in ("", "-wal", "-shm"):
        if os.path.exists(name + end):
            os.remove(name + end)
    db = sqlite3.connect("work.db", isolation_level=None)
    db.execute("PRAGMA page_size = 512")
    if wal:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA wal_autocheckpoint = 0")
    db.execute('CREATE TABLE notes (id TEXT PRIMARY KEY ON CONFLICT REPLACE, "the text" TEXT DEFAULT (\'a,(b\'), [n] INTEGER,'
               " x REAL, UNIQUE (id, n))")
    db.execute("CREATE TABLE empty (a, b)")
    db.execute("CREATE INDEX by_n ON notes (n)")
    fill(db, 0, rows // 2)
    if wal:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    fill(db, rows // 2, rows)
    db.execute("ALTER TABLE notes ADD COLUMN later TEXT")
    db.execute("UPDATE notes SET later = 'yes' WHERE n = 127")
    if wal:  # what is not committed does not count
        db.execute("DELETE FROM notes WHERE n = 0")
        shutil.copy("work.db", name)
        shutil.copy("work.db-wal", name + "-wal")
    want = [list(r) for r in db.execute('SELECT id, "the text", n, later FROM notes ORDER BY rowid')]
    db.close()
    if not wal:
        shutil.copy("work.db", name)
    for end in ("", "-wal", "-shm"):
        if os.path.exists("work.db" + end):
            os.remove("work.db" + end)
    return want

os.chdir(os.path.dirname(os.path.abspath(__file__)))
with open("rows.json", "w") as out:
    json.dump({"plain.db": make("plain.db", False, 60), "log.db": make("log.db", True, 60)}, out)

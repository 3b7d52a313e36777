#!/usr/bin/env python3
"""Writes databases as Cursor and OpenCode write them, with made-up chats; log.db is opencode.db before its first checkpoint."""
import json, os, shutil, sqlite3

def database(name):
    if os.path.exists(name):
        os.remove(name)
    db = sqlite3.connect(name, isolation_level=None)
    db.execute("PRAGMA page_size = 512")
    return db

def cursor():
    db = database("cursor.db")
    for table in ("ItemTable", "cursorDiskKV"):
        db.execute("CREATE TABLE %s (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)" % table)
    def put(key, value):
        db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, None if value is None else json.dumps(value, ensure_ascii=False)))
    def bubble(chat, id, type, text, **more):
        put("bubbleId:%s:%s" % (chat, id), dict({"_v": 3, "type": type, "bubbleId": id, "text": text}, **more))
    put("composerData:c1", {"_v": 10, "composerId": "c1", "name": "Tulip beds", "createdAt": 1766691308486,
        "fullConversationHeadersOnly": [{"bubbleId": b, "type": t} for b, t in
            (("b1", 1), ("b2", 2), ("b3", 2), ("b4", 2), ("gone", 2), ("b5", 1), ("b6", 2), ("b5", 1))], "isAgentic": True})
    bubble("c1", "b1", 1, "<attached_files>\nx\n</attached_files>\nwhere do the tulips go?", createdAt="2025-12-25T19:35:10.000Z",
        images=[{"uuid": "i"}])
    bubble("c1", "b2", 2, "", thinking={"text": "south side"}, capabilityType=30)
    bubble("c1", "b3", 2, "", toolFormerData={"name": "read_file", "rawArgs": "{\"path\":\"beds.txt\"}", "result": "{}"})
    bubble("c1", "b4", 2, "By the south wall. " + "Row after row. " * 60, createdAt="2025-12-25T19:35:20.000Z", mood="calm")
    bubble("c1", "b5", 1, "and the lilies?", timingInfo={"clientStartTime": 4745281.3, "clientRpcSendTime": 1766691400000})
    bubble("c1", "b6", 2, "Beside the pond.")
    bubble("c1", "b9", 2, "An answer that was taken back.")
    put("composerData:c2", {"_v": 3, "composerId": "c2", "createdAt": 1766600000000, "conversation": [
        {"type": 1, "bubbleId": "d1", "text": "prune the vine"}, {"type": 2, "bubbleId": "d2", "text": "Pruned."},
        {"type": 7, "bubbleId": "d3", "text": "?"}]})
    put("composerData:c3", {"composerId": "c3", "conversationMap": {"e1": {"type": 1, "bubbleId": "e1", "text": "old map"}},
        "fullConversationHeadersOnly": [{"bubbleId": "e1", "type": 1}], "petals": 5})
    put("composerData:c4", {"composerId": "c4", "fullConversationHeadersOnly": []})
    put("composerData:c5", {"composerId": "c5", "subagentInfo": {"parent": "c1"},
        "fullConversationHeadersOnly": [{"bubbleId": "f1", "type": 1}]})
    bubble("c5", "f1", 1, "inner work")
    put("composerData:c6", None)
    put("composerData:c7", ["no chat"])
    put("bubbleId:c8:g1", {"type": 1, "bubbleId": "g1", "text": "of no chat"})
    for key in ("agentKv:blob:00ff", "checkpointId:c1:1", "codeBlockDiff:1", "inlineDiffs-99", "composer.content.00ff",
                "messageRequestContext:c1:b1", "pollen:1"):
        put(key, {})
    db.execute("INSERT INTO ItemTable VALUES (?, ?)", ("workbench.panel.aichat.view.aichat.chatdata",
        json.dumps({"tabs": [{}, {}]})))
    db.execute("INSERT INTO ItemTable VALUES ('other', '{}')")
    db.close()

def opencode(log=False):
    db = database("work.db" if log else "opencode.db")
    if log:  # all of it is in the log
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA wal_autocheckpoint = 0")
    db.execute("CREATE TABLE `session` (`id` text PRIMARY KEY NOT NULL, `project_id` text NOT NULL, `parent_id` text, `slug` text,"
        " `directory` text NOT NULL, `title` text NOT NULL, `time_created` integer NOT NULL, `time_updated` integer NOT NULL,"
        " CONSTRAINT `fk` FOREIGN KEY (`project_id`) REFERENCES `project`(`id`))")
    db.execute("CREATE TABLE `message` (`id` text PRIMARY KEY NOT NULL, `session_id` text NOT NULL, `time_created` integer NOT NULL,"
        " `time_updated` integer NOT NULL, `data` text NOT NULL)")
    db.execute("CREATE TABLE `part` (`id` text PRIMARY KEY NOT NULL, `message_id` text NOT NULL, `session_id` text NOT NULL,"
        " `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL)")
    t = 1767225600000
    for id, parent, title in (("ses_1", None, "Mill stones"), ("ses_2", None, "New session - 2026-01-01"), ("ses_3", "ses_1", "sub")):
        db.execute("INSERT INTO session VALUES (?,?,?,?,?,?,?,?)", (id, "p", parent, "s", "/mill", title, t, t))
    n = 0
    def message(session, id, data, *parts):
        nonlocal n
        n += 1
        db.execute("INSERT INTO message VALUES (?,?,?,?,?)", (id, session, t + n * 1000, t, json.dumps(data)))
        for i, part in reversed(list(enumerate(parts))):
            db.execute("INSERT INTO part VALUES (?,?,?,?,?,?)", ("prt_%s_%d" % (id, i), id, session, t, t, json.dumps(part)))
    message("ses_1", "msg_1", {"role": "user", "time": {"created": t + 1000}}, {"type": "text", "text": "dress the stones"})
    message("ses_1", "msg_2", {"role": "assistant", "parentID": "msg_1", "time": {"created": t + 2000}},
        {"type": "step-start"}, {"type": "tool", "tool": "bash", "callID": "c", "state": {"status": "completed",
        "input": {"command": "ls mill"}, "output": "x"}}, {"type": "text", "text": "Dressed, both. " * 40})
    message("ses_1", "msg_3", {"role": "assistant", "parentID": "msg_1", "time": {"created": t + 3000}},
        {"type": "text", "text": "And oiled."}, {"type": "husk"})
    message("ses_2", "msg_4", {"role": "user", "time": {"created": t + 4000}, "wind": 3}, {"type": "text", "text": "mind the sails"})
    message("ses_3", "msg_5", {"role": "user", "time": {"created": t}}, {"type": "text", "text": "inner"})
    message("ses_9", "msg_6", {"role": "user", "time": {"created": t}}, {"type": "text", "text": "of no session"})
    db.execute("INSERT INTO message VALUES ('msg_7', 'ses_2', ?, ?, 'not JSON')", (t, t))
    if log:
        for end in ("", "-wal"):
            shutil.copy("work.db" + end, "log.db" + end)
    db.close()
    for end in ("", "-wal", "-shm"):
        if log and os.path.exists("work.db" + end):
            os.remove("work.db" + end)

os.chdir(os.path.dirname(os.path.abspath(__file__)))
cursor()
opencode()
opencode(log=True)

#!/usr/bin/env python3
"""What other session managers keep in files, made from what wfs prints.

    python3 docs/views.py                  the names of the views
    python3 docs/views.py VIEW [SESSION]   one view of a session (default: the current one), or of all

wfs keeps its state in Git, and does not write these files. This script shows where each of their fields comes from, for
programs that read them. It calls `wfs list --json` and `wfs export --story`, whose fields are in docs/formats.md.
Set WFS to the path of wfs if it is not found. What wfs does not know is null, and never a guess.
"""
import datetime
import hashlib
import json
import os
import subprocess
import sys


def wfs(*args):
    return json.loads(subprocess.run([os.environ.get("WFS", "wfs"), *args], check=True, stdout=subprocess.PIPE).stdout)


def story(session):
    """A session with its history. With None, the current one."""
    return wfs("export", "--story", *([session] if session else []))


def stories():
    """All sessions that can be read, the most recent first."""
    return [story(s["id"]) for s in wfs("list", "--json")["sessions"] if s["status"] != "unreadable"]


# The parts of a story that several views need.

def time(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat()


def events(st, *kinds):
    """The bodies of the events of some kinds, each with its time."""
    return [dict(e["data"], at=e["at"]) for e in st["events"] if e["kind"] in kinds]


def line(st):
    """The checkpoints up to the current one, on its line of history."""
    found, n = [], st["session"]["checkpoint"]
    while n >= 0:
        c = st["checkpoints"][n]
        found.append(c)
        n = c.get("on", 0) if n > 0 else -1
    return found[::-1]


def phases(st):
    """The phases in which work is done. A breakpoint is a phase in which a person approves."""
    return [p["name"] for p in st.get("phases", []) if "approves" not in p]


def phase(st):
    """The current phase. At a breakpoint, the phase whose work a person looks at."""
    now = st["session"]["phase"]
    return next((p["approves"] for p in st.get("phases", []) if p["name"] == now and "approves" in p), now)


def passed(st, lap=None):
    """The phases that passed, in the order in which they did. A phase that was skipped did not pass."""
    names = [c["phase"] for c in line(st) if c.get("verdict") == "pass" and lap in (None, c["lap"])]
    return list(dict.fromkeys(names))


def failures(st):
    """The attempts that failed: time, phase, number and reason."""
    return [dict(d, phase=a["phase"], attempt=a["attempt"])
            for a, d in zip(attempts(st), map(last("decided", st), attempts(st))) if d and d["verdict"] != "pass"]


def attempts(st):
    return events(st, "attempt_started")


def last(kind, st):
    """A function from an attempt to its event of a kind, or None."""
    found, number = {}, 0
    for e in st["events"]:
        if e["kind"] == "attempt_started":
            number = e["data"]["number"]
        elif e["kind"] == kind:
            found[number] = dict(e["data"], at=e["at"])
    return lambda attempt: found.get(attempt["number"])


def status(st, running, words):
    """The status in the words of another tool: `words` maps those of wfs, `running` is all others."""
    return words.get(st["session"]["status"], running)


# A session manager of a team that works in nine steps: the workflow nine-step.

STEPS = ["INIT", "REQUIREMENTS", "ARCHITECTURE", "IMPLEMENTATION", "TESTING", "REVIEW", "OPTIMISATION", "RELEASE",
         "SYNTHESIS"]


def sessions_json(all_sessions):
    def entry(st):
        s = st["session"]
        done = [p for p in passed(st) if p in STEPS]
        now = {"FIX": "REVIEW", "done": "SYNTHESIS"}.get(phase(st), phase(st))
        step = STEPS.index(now) + 1 if now in STEPS else None
        state = status(st, "active", {"completed": "completed", "finished": "completed", "abandoned": "interrupted",
                                      "interrupted": "interrupted", "paused": "paused", "waiting": "paused",
                                      "blocked": "paused"})
        record = {
            "id": s["id"], "topic": s["goal"], "status": state,
            "created_at": s["created_at"], "updated_at": s["updated_at"],
            "current_step": step, "current_checkpoint": "%s@%d" % (s["id"], s["checkpoint"]),
            "progress": {"steps_completed": len(done), "total_steps": 9, "percentage": 100 * len(done) // 9},
            "git_branch": s["branch"], "resumable": s["status"] not in ("completed", "finished", "abandoned"),
        }
        if state == "completed":
            record["completed_at"] = s["updated_at"]
        return record
    mine = [st for st in all_sessions if st["session"]["workflow"] == "nine-step"]
    active = [st["session"]["id"] for st in mine if st["session"]["status"] != "abandoned"]
    return {"version": "1.0.0", "sessions": [entry(st) for st in mine], "last_active_session": (active or [None])[0]}


# A session manager of sessions with the phases PLAN, IMPLEMENT and REVIEW: the workflow plan.

def session_status_jsonl(all_sessions):
    """One session is active: the current one. All others that are not done are paused."""
    current = [s["id"] for s in wfs("list", "--json")["sessions"] if s["current"]]
    done = dict.fromkeys(["completed", "finished", "abandoned"], "completed")
    return [{"id": s["name"], "status": status(st, "active" if s["id"] in current else "paused", done),
             "description": s["goal"], "created": s["created_at"], "directory": ".workflow/" + s["id"]}
            for st in all_sessions for s in [st["session"]]]


def workflow_session_json(st):
    s, done, now = st["session"], passed(st), phase(st)
    skipped = [p["phase"] for p in s.get("skipped_phases", [])]

    def part(names, **more):
        state = "in_progress" if now in names else "completed" if names[-1] in done else "pending"
        at = [c["at"] for c in line(st) if c["phase"] in names]
        return {"status": state, **more, "timestamp": time(at[-1]) if at else None}
    agents = [last("run_ended", st)(a) or {} for a in attempts(st) if a["phase"] == "IMPLEMENT"]
    changes = [dict(c, previous=p) for p, c in zip(line(st), line(st)[1:]) if p["next"] != c["next"]]
    gates = {g["gate"]: g["verdict"] for g in s.get("gates", [])}
    return {
        "session_id": s["name"], "session_version": "2.0", "project": s["goal"], "type": st.get("complexity"),
        "current_phase": {"BREAKDOWN": "PLAN", "done": "REVIEW"}.get(now, now),
        "status": session_status_jsonl([st])[0]["status"], "created_at": s["created_at"], "updated_at": s["updated_at"],
        "checkpoints": {
            "plan": part(["PLAN", "BREAKDOWN"] if "BREAKDOWN" in phases(st) else ["PLAN"], documents=st["documents"]),
            "implement": part(["IMPLEMENT"], agents_completed=sorted({r["agent"] for r in agents if r.get("agent")}),
                              current_agent=s["agent"] if now == "IMPLEMENT" else None,
                              todos={"total": s.get("items", 0), "completed": s.get("items_done", 0),
                                     "in_progress": int("item" in s)}),
            "review": part(["REVIEW"], quality_checks=gates),
        },
        "context_chain": [{"phase": c["phase"], "checkpoint": c["number"], "summary": c["summary"]} for c in line(st)],
        "state_transitions": [
            {"from": c["phase"], "to": c["next"], "timestamp": time(c["at"]), "trigger": c["summary"],
             "handoff_data": {"plan_path": (st["documents"] or [None])[0],
                              "tasks": [i["text"] for i in s.get("item_states", [])],
                              "complexity": st.get("complexity")}}
            for c in changes],
        "not_judged": skipped,
    }


# A session manager of a loop of RED, GREEN, REFACTOR and DOCUMENT: the workflow tdd-docs.

def loop_state_json(st):
    s, blocked = st["session"], st["session"].get("blocked")
    state = status(st, "running", {"completed": "completed", "finished": "completed", "paused": "paused",
                                   "created": "paused", "interrupted": "suspended", "waiting": "paused",
                                   "blocked": "halted", "abandoned": "aborted"})
    record = {
        "session_id": s["id"], "prp_file": events(st, "created")[0].get("spec_path"), "started_at": s["created_at"],
        "current_phase": s["phase"], "current_iteration": s["attempts"], "last_activity": s["updated_at"],
        "status": state,
        "halt_reason": s.get("why") if blocked else None, "phases_completed": passed(st, s.get("lap")),
        "error_history": [{"timestamp": f["at"], "phase": f["phase"], "iteration": f["attempt"], "error": f["reason"],
                           "hash": hashlib.sha256((f["class"] + f["reason"]).encode()).hexdigest()}
                          for f in failures(st)[-50:]],
    }
    if state == "completed":
        record["completed_at"] = s["updated_at"]
    return record


def circuit_breaker_json(st):
    b = st.get("breaker") or {"state": "closed", "visit": {}}
    v, opened = b["visit"], events(st, "blocked")
    return {"state": b["state"].upper().replace("-", "_"), "no_progress_count": v.get("no_progress", 0),
            "same_error_count": v.get("same_failure", 0), "last_progress_metric": v.get("best"),
            "last_error_hash": v.get("fingerprint"), "open_reason": b.get("reason"),
            "opened_at": opened[-1]["at"] if b["state"] == "open" and opened else None,
            "history": [{"at": e["at"], "reason": e["reason"]} for e in opened]}


def metrics_json(st):
    by_phase = {}
    for a in attempts(st):
        judged, run = last("decided", st)(a) or {}, last("run_ended", st)(a) or {}
        counts = [g["counts"] for g in (last("judged", st)(a) or {}).get("gates", [])]
        by_phase.setdefault(a["phase"], []).append({
            "iteration": a["number"], "lap": a["lap"], "verdict": judged.get("verdict"),
            "tool_calls": run.get("tools", 0), "ms": run.get("millis"),
            "passing": sum(c["passed"] for c in counts), "failing": sum(c["failed"] for c in counts)})
    return {"session_id": st["session"]["id"], "current_phase": st["session"]["phase"], "phases": by_phase,
            "used": st["session"].get("used", {})}


def rate_limit_json(st):
    calls = (st.get("budget") or {}).get("calls", {})
    return {"hourly": {"calls_made": calls.get("last_hour", 0), "limit": calls.get("per_hour"),
                       "next": calls.get("next")}}


def dual_gate_json(st):
    """Both gates of the newest attempt: what wfs judged, and what the agent said."""
    a = (attempts(st) or [None])[-1]
    judged, run = (last("decided", st)(a), last("run_ended", st)(a)) if a else (None, None)
    passes, said = (judged or {}).get("verdict") == "pass", bool((run or {}).get("done"))
    return {"phase": a and a["phase"], "gate_1": {"passed": passes, "reason": (judged or {}).get("reason")},
            "gate_2": {"exit_signal": said}, "can_exit": passes and said,
            "refuted": bool((judged or {}).get("refuted"))}


def phase_status_log(st):
    """Append-only: one line for each attempt that was judged. Later attempts add lines and change none."""
    return [{"at": d["at"], "attempt": a["number"], "phase": a["phase"], "lap": a["lap"], "verdict": d["verdict"],
             "reason": d["reason"]} for a in attempts(st) for d in [last("decided", st)(a)] if d]


# A session manager that keeps the full state, with a checkpoint at every milestone.

def session_record_json(st):
    s, files = st["session"], {"A": [], "M": [], "D": [], "T": []}
    for c in st["changes"]:
        files[c["status"]].append(c["path"])

    def progress(upto):
        """How many of the phases, in percent, had passed at a checkpoint."""
        done = {c["phase"] for c in line(st) if c.get("verdict") == "pass" and c["number"] <= upto}
        return 100 * len(done.intersection(phases(st))) // max(1, len(phases(st)))
    runs = [dict(last("run_ended", st)(a) or {}, phase=a["phase"], attempt=a["number"]) for a in attempts(st)]
    return {
        "session_id": s["id"], "created_at": s["created_at"], "updated_at": s["updated_at"],
        "status": status(st, "active", {"completed": "completed", "finished": "completed", "interrupted": "crashed",
                                        "abandoned": "completed", "paused": "paused", "waiting": "paused",
                                        "blocked": "paused"}),
        "project": {"path": s.get("worktree"), "name": s["id"], "type": s["workflow"]},
        "context": {"user_intent": s["goal"], "current_phase": s["phase"],
                    "progress_percent": progress(s["checkpoint"])},
        "agents": {"active": [s["agent"]] if s["status"] == "running" else [],
                   "states": {r["agent"]: r["outcome"] for r in runs if r.get("agent")}},
        # wfs keeps numbers of tool calls; the calls themselves are in the logs of this machine: wfs show --run
        "tools": {"history": [{"attempt": r["attempt"], "phase": r["phase"], "calls": r.get("tools", 0)}
                              for r in runs],
                  "pending": []},
        "decisions": {"tree": [{"checkpoint": c["number"], "on": c.get("on", 0), "verdict": c.get("verdict"),
                                "why": c["summary"]} for c in st["checkpoints"]], "current_branch": s["branch"]},
        "memory": {"hindsight_queries": None, "context7_lookups": None, "local_cache": None},
        "files": {"created": files["A"], "modified": files["M"] + files["T"], "deleted": files["D"]},
        "errors": {"count": len(failures(st)), "log": [{"at": f["at"], "phase": f["phase"], "error": f["reason"]}
                                                       for f in failures(st)]},
        "checkpoints": [
            {"id": "checkpoint_%d000" % c["at"], "timestamp": time(c["at"]), "progress": progress(c["number"]),
             "reason": "phase_complete" if c.get("verdict") == "pass" else
                       "milestone" if c["trigger"] in ("attempt", "birth", "manual") else "pre_risky",
             "tool_count": sum(r.get("tools", 0) for r in runs[:sum(1 for x in st["checkpoints"][:c["number"] + 1]
                                                                     if x["trigger"] == "attempt")])}
            for c in st["checkpoints"]],
    }


OF_ALL = {"sessions.json": sessions_json, "session_status.jsonl": session_status_jsonl}
OF_ONE = {"workflow-session.json": workflow_session_json, "loop-state.json": loop_state_json,
          "circuit-breaker.json": circuit_breaker_json, "metrics.json": metrics_json,
          "rate-limit.json": rate_limit_json, "dual-gate.json": dual_gate_json, "phase-status.log": phase_status_log,
          "session-record.json": session_record_json}


def main(args):
    if not args or args[0] not in {**OF_ALL, **OF_ONE}:
        print("\n".join([*OF_ALL, *OF_ONE]))
        return 0 if not args else 2
    name = args[0]
    made = OF_ALL[name](stories()) if name in OF_ALL else OF_ONE[name](story((args[1:] or [None])[0]))
    if isinstance(made, list):  # a file with one object on each line
        for each in made:
            print(json.dumps(each))
    else:
        print(json.dumps(made, indent=2))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (OSError, subprocess.CalledProcessError) as e:  # wfs is not there, or has said why not
        sys.exit("views.py: %s" % e)

// Gives OpenCode's agents what the memory of a project knows, as 'mnem hook opencode EVENT' says it.
import { spawn } from "node:child_process";

const program = PROGRAM;
const limit = 65536; // characters that are taken of what a hook says

// hook says something to a hook and returns what it answers. It never fails, and waits three seconds at most.
function hook(event, session, dir, more) {
  return new Promise((resolve) => {
    let out = "";
    const end = () => {
      try {
        resolve(JSON.parse(out).hookSpecificOutput.additionalContext);
      } catch {
        resolve(""); // it had nothing to say
      }
    };
    try {
      const child = spawn(program, ["hook", "opencode", event], {
        cwd: dir, stdio: ["pipe", "pipe", "ignore"], timeout: 3000, killSignal: "SIGKILL", windowsHide: true,
      });
      child.on("error", end);
      child.on("close", end);
      child.stdin.on("error", () => {});
      child.stdout.on("data", (data) => { if (out.length < limit) out += data; });
      child.stdin.end(JSON.stringify({ session_id: session, cwd: dir, ...more }));
    } catch {
      end();
    }
  });
}

// talk returns what was said in a session, as OpenCode exports it, but for what tools answered.
async function talk(client, session) {
  const path = { id: session };
  const [about, said] = await Promise.all([client.session.get({ path }), client.session.messages({ path })]);
  const { id, directory, title, parentID, time } = about.data;
  const messages = said.data.map(({ info, parts }) => ({
    info: { id: info.id, role: info.role, parentID: info.parentID, summary: info.summary, time: info.time },
    parts: parts.flatMap((p) => {
      if (p.type === "text") return { type: "text", text: p.text, synthetic: p.synthetic, ignored: p.ignored };
      return p.type === "tool" ? { type: "tool", tool: p.tool, state: { input: p.state?.input } } : [];
    }),
  }));
  return { info: { id, directory, title, parentID, time }, messages };
}

export const Mnem = async ({ client, directory }) => {
  const begun = new Set(); // sessions whose agent has been told what they begin with
  const children = new Set(); // sessions of subagents, whose prompts no user wrote
  return {
    event: async ({ event }) => {
      const { info, sessionID } = event.properties ?? {};
      if (event.type === "session.created" && info?.parentID) children.add(info.id);
      if (event.type === "session.compacted" && begun.delete(sessionID)) await hook("compact", sessionID, directory);
      if (event.type === "session.idle" && begun.has(sessionID)) {
        try {
          await hook("stop", sessionID, directory, { talk: await talk(client, sessionID) });
        } catch {
          // it is said again at the next stop
        }
      }
      if (event.type === "session.deleted") [begun, children].forEach((set) => set.delete(info?.id));
    },
    "chat.message": async (input, output) => {
      const session = input.sessionID;
      const said = output.parts.filter((p) => p.type === "text" && !p.synthetic).map((p) => p.text).join("\n");
      if (children.has(session) || said === "") return;
      const known = [];
      if (!begun.has(session)) {
        begun.add(session);
        known.push(await hook("session-start", session, directory));
      }
      known.push(await hook("prompt", session, directory, { prompt: said }));
      const text = known.filter(Boolean).join("\n");
      if (text === "") return;
      output.parts.push({
        id: `prt_z${Date.now().toString(36)}${begun.size}`, // after those of the user, in the order of ids
        sessionID: session, messageID: output.message.id, type: "text", text, synthetic: true,
      });
    },
  };
};

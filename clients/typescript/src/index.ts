/**
 * mnem: git for an AI agent's memory.
 *
 *     import { Memory } from "@mnem/client";
 *
 *     const memory = await Memory.open("notes");
 *     await memory.remember("Alice leads the infra team", { tag: ["team"] });
 *     for (const item of (await memory.recall("who leads infra")).items) console.log(item.rendered);
 */
export * from "./errors.js";
export { Memory } from "./memory.js";
export type { Caller, Change, OpenOptions } from "./memory.js";
export { mcpServer } from "./mcp.js";
export type { ServerOptions, StdioServer } from "./mcp.js";
export { program } from "./program.js";
export * from "./verbs.js";
export { VERSION } from "./version.js";

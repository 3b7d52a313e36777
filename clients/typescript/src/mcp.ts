// Wiring for programs that reach a memory by the Model Context Protocol, such as the Claude Agent SDK.

import { absolute, program } from "./program.js";

/** Options of mcpServer: flags of 'mnem mcp'. */
export interface ServerOptions {
  /** Which tools there are: "read" leaves out those that write, "full" has all. Default core. */
  profile?: "read" | "core" | "full";
  author?: string;
  /** Default: name and version of the MCP client. */
  agent?: string;
  task?: string;
  branch?: string;
  /** Answer from the commit at the first call, whatever is committed later. */
  pin?: boolean;
  /** Have retrieve and recall ask the user's own memory too. */
  withGlobal?: boolean;
}

/** How a program starts an MCP server; the form of most clients' configurations. */
export interface StdioServer {
  type: "stdio";
  command: string;
  args: string[];
}

/**
 * Returns the configuration of an MCP server for the memory in a directory, at a URL or in a database. The memory must
 * exist: Memory.open and 'mnem init' make one.
 *
 *     query({ prompt, options: { mcpServers: { mnem: mcpServer("notes") }, allowedTools: ["mcp__mnem"] } });
 */
export function mcpServer(path = ".", options: ServerOptions = {}): StdioServer {
  const { profile, author, agent, task, branch, pin, withGlobal } = options;
  const flags = Object.entries({ profile, author, agent, task, branch }).flatMap(([k, v]) => (v ? [`--${k}`, v] : []));
  const args = ["mcp", "--repo", path.includes("://") ? path : absolute(path), ...flags];
  return { type: "stdio", command: program(), args: [...args, ...(pin ? ["--pin"] : []), ...(withGlobal ? ["--with-global"] : [])] };
}

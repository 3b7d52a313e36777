/**
 * Tools of the Vercel AI SDK over a memory.
 *
 *     import { generateText, stepCountIs } from "ai";
 *     import { memoryTools } from "@mnem/client/ai";
 *
 *     await generateText({ model, prompt, tools: memoryTools(memory), stopWhen: stepCountIs(5) });
 */

import { jsonSchema, tool } from "ai";
import type { Tool } from "ai";

import type { Memory } from "./memory.js";
import type { RecallAnswer, RememberAnswer } from "./verbs.js";

/** A memory that a question found. */
export interface Found {
  id: string;
  text: string;
}

/** Options of memoryTools. */
export interface ToolOptions {
  /** Leave out the tools that write. */
  readOnly?: boolean;
  /** Tokens that what recall answers may have. Default that of the memory's profile. */
  budget?: number;
}

/** The tools that only read. */
export type ReadTools = { recall: Tool<{ query: string; limit?: number }, { verdict: NonNullable<RecallAnswer["verdict"]>; items: Found[] }> };

/** All tools. */
export type MemoryTools = ReadTools & {
  remember: Tool<{ text: string; type?: string; tags?: string[]; supersedes?: string[] }, { id: string; action: RememberAnswer["action"] }>;
  forget: Tool<{ ids: string[]; reason?: string }, { forgotten: string[] }>;
};

const text = (description: string): object => ({ type: "string", description });
const texts = (description: string): object => ({ type: "array", items: { type: "string" }, description });

function input<T>(properties: Record<string, object>, required: string[]): ReturnType<typeof jsonSchema<T>> {
  return jsonSchema<T>({ type: "object", properties, required, additionalProperties: false } as Parameters<typeof jsonSchema<T>>[0]);
}

/** Returns the tools recall, remember and forget. An error of the memory becomes an error of the tool, with its hint. */
export function memoryTools(memory: Memory, options: ToolOptions & { readOnly: true }): ReadTools;
export function memoryTools(memory: Memory, options?: ToolOptions): MemoryTools;
export function memoryTools(memory: Memory, options: ToolOptions = {}): ReadTools | MemoryTools {
  const recall: ReadTools["recall"] = tool({
    description: "Ask the memory a question. Answers with what was remembered, best first. The verdict says if that answers it; ids are for forget and supersedes.",
    inputSchema: input<{ query: string; limit?: number }>({
      query: text("the question, in words"),
      limit: { type: "integer", minimum: 1, maximum: 50, description: "at most so many memories" },
    }, ["query"]),
    execute: async ({ query, limit }) => {
      const { items, verdict } = await memory.recall(query, { limit, budget: options.budget });
      return { verdict: verdict ?? "unsure", items: items.map((i) => ({ id: i.id, text: i.rendered })) };
    },
  });
  if (options.readOnly) return { recall };
  return {
    recall,
    remember: tool({
      description: "Store one fact, in words that can be understood alone. Says if it is new or was known already.",
      inputSchema: input<{ text: string; type?: string; tags?: string[]; supersedes?: string[] }>({
        text: text("the fact"), type: text("fact, decision, preference, insight, context, event or task"),
        tags: texts("short labels"), supersedes: texts("ids of memories that it takes the place of"),
      }, ["text"]),
      execute: async ({ text, type, tags, supersedes }) => {
        const { id, action } = await memory.remember(text, { type, tag: tags, supersedes });
        return { id, action };
      },
    }),
    forget: tool({
      description: "Mark memories as forgotten, so that they are no longer answered. It can be undone.",
      inputSchema: input<{ ids: string[]; reason?: string }>({
        ids: texts("ids of memories"), reason: text("why"),
      }, ["ids"]),
      execute: async ({ ids, reason }) => ({ forgotten: (await memory.forget(ids, { reason })).marked }),
    }),
  };
}

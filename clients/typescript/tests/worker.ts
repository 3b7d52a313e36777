// A process that remembers facts: node worker.js PATH NUMBER COUNT.

import { Memory } from "../src/index.js";
import { IDLE } from "./support.js";

const [path, worker, count] = process.argv.slice(2) as [string, string, string];
await using memory = await Memory.open(path, { idle: IDLE });
for (let i = 0; i < Number(count); i++) {
  await memory.remember(`worker ${worker} saw machine m${worker}x${i} at rack ${Number(worker) * 100 + i}`, { without: ["diff"] });
}

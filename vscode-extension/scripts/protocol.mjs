// Writes src/protocol.ts, the types of the custom requests, from schemas/requests.json.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const SCHEMA = fileURLToPath(new URL("../../schemas/requests.json", import.meta.url));
const TARGET = fileURLToPath(new URL("../src/protocol.ts", import.meta.url));

/** @param {any} schema The parsed requests.json. @returns {string} TypeScript. */
export function generate(schema) {
  const types = Object.entries(schema.$defs).map(
    ([name, type]) => `${comment(type.description, "")}export type ${name} = ${object(type, "")};\n`,
  );
  const methods = (title, table, side) =>
    `export interface ${title} {\n${Object.entries(table)
      .map(([method, { params, result }]) => `  "${method}": ${side(ts(params, "  "), result && ts(result, "  "))};\n`)
      .join("")}}\n`;
  return [
    "// Made by scripts/protocol.mjs from schemas/requests.json: change those, then run `npm run protocol`.\n",
    ...types,
    methods("Requests", schema.requests, (params, result) => `{ params: ${params}; result: ${result} }`),
    methods("Notifications", schema.notifications, (params) => params),
  ].join("\n");
}

function ts(schema, indent) {
  if (schema.$ref) return schema.$ref.replace("#/$defs/", "");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf) return schema.anyOf.map((option) => ts(option, indent)).join(" | ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => ts({ ...schema, type }, indent)).join(" | ");
  switch (schema.type) {
    case "integer":
      return "number";
    case "array": {
      const item = schema.items ? ts(schema.items, indent) : "unknown";
      return item.includes("|") ? `(${item})[]` : `${item}[]`;
    }
    case "object":
      return object(schema, indent);
    case undefined:
      return "unknown";
    default:
      return schema.type;
  }
}

function object(schema, indent) {
  const extra = schema.additionalProperties;
  if (!schema.properties) return `Record<string, ${extra ? ts(extra, indent) : "unknown"}>`;
  const inner = `${indent}  `;
  const lines = Object.entries(schema.properties).map(([name, type]) => {
    const optional = schema.required?.includes(name) ? "" : "?";
    return `${comment(type.description, inner)}${inner}${name}${optional}: ${ts(type, inner)};\n`;
  });
  return lines.length ? `{\n${lines.join("")}${indent}}` : "Record<string, never>";
}

function comment(text, indent) {
  return text ? `${indent}/** ${text.replaceAll("*/", "* /").replace(/\s*\n\s*/g, " ")} */\n` : "";
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(TARGET, generate(JSON.parse(readFileSync(SCHEMA, "utf8"))));
}

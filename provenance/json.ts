/** Any JSON value (RFC 8259) as `JSON.parse` yields it. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject

export type JsonObject = { readonly [member: string]: JsonValue }

/** Returns true for a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

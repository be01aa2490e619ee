/** The operations whose types the SDK has. `npm run api-types` reads the list. */
const operationIds: ReadonlySet<string> = new Set([
  'queryRecords',
  'writeRecord',
  'getRecord',
  'purgeRecord',
  'restoreRecord',
  'getRelatedRecords',
  'verifyRecord',
  'getProofBundle',
  'searchRecords',
  'suggest',
  'createExport',
  'listExports',
  'getExport',
  'cancelExport',
  'ingestEvent',
  'ingestBatch',
  'summarizeTelemetry',
  'getProvenanceKeys',
])

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
type JsonObject = { [name: string]: Json }

/** Returns the part of an OpenAPI document that describes the operations of the SDK, with the components they refer to. */
export function sdkSubset(document: JsonObject): JsonObject {
  const paths: JsonObject = {}
  for (const [path, item] of Object.entries(document.paths as Record<string, JsonObject>)) {
    const kept = Object.entries(item).filter(([, operation]) =>
      operationIds.has(String((operation as JsonObject).operationId)),
    )
    if (kept.length > 0) paths[path] = Object.fromEntries(kept)
  }
  const components: Record<string, JsonObject> = {}
  const pending: Json[] = [paths]
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    for (const reference of JSON.stringify(part).matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
      const [, kind = '', name = ''] = reference
      if (components[kind]?.[name] !== undefined) continue
      const component = (document.components as Record<string, JsonObject>)[kind]![name]!
      components[kind] = { ...components[kind], [name]: component }
      pending.push(component)
    }
  }
  return { openapi: document.openapi!, info: { title: 'Org-Memory Hub', version: '1' }, paths, components }
}

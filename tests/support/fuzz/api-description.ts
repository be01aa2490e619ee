import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

/** JSON Schema, as far as the generator reads it. */
export interface Schema {
  type?: string
  const?: unknown
  enum?: unknown[]
  default?: unknown
  examples?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  minItems?: number
  maxItems?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  schema: Schema
}

/** One operation of the OpenAPI document, with what a generator and a judge need of it. */
export interface DescribedOperation {
  operationId: string
  method: string
  path: string
  parameters: Parameter[]
  body: { mediaType: string; schema: Schema; required: boolean } | undefined
  /** Needs a bearer token and a tenant. */
  takesToken: boolean
  /** Every status that the document names, and the check of its body where that is described. */
  answers: Map<number, ValidateFunction | undefined>
}

interface DocumentOperation {
  operationId: string
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema: object }> }>
  security?: object[]
}

interface Document {
  paths: Record<string, Record<string, DocumentOperation>>
  components: { parameters: Record<string, Parameter> } & Record<string, unknown>
}

/**
 * Reads the OpenAPI document as a stranger would: nothing of the service's own code. Leaves out the SCIM server, whose
 * requests and errors are of another kind: `tests/scim/` sends it hostile ones.
 */
export function describedOperations(document: Document): DescribedOperation[] {
  const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }))
  ajv.addSchema({ $id: 'api', components: document.components })
  const withRefs = (schema: object) =>
    ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')))
  const paths = Object.entries(document.paths).filter(([path]) => !path.startsWith('/scim/'))
  return paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const [mediaType, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
      return {
        operationId: operation.operationId,
        method: method.toUpperCase(),
        path,
        parameters: (operation.parameters ?? []).map((parameter) => resolve(document, parameter)),
        body: mediaType
          ? {
              mediaType,
              schema: inlined(document, content!.schema),
              required: operation.requestBody?.required === true,
            }
          : undefined,
        takesToken: (operation.security ?? []).some((each) => 'bearer' in each),
        answers: new Map(
          Object.entries(operation.responses).map(([status, { content: described }]) => {
            const schema = Object.values(described ?? {})[0]?.schema
            return [Number(status), schema && withRefs(schema)]
          }),
        ),
      }
    }),
  )
}

/** The schema with each named one in the place of its reference. */
function inlined(document: Document, schema: Schema): Schema {
  const named = document.components.schemas as Record<string, Schema>
  return JSON.parse(
    JSON.stringify(schema, (_, value) => {
      const name = typeof value?.$ref === 'string' ? value.$ref.replace('#/components/schemas/', '') : undefined
      return name === undefined ? value : inlined(document, named[name]!)
    }),
  )
}

function resolve(document: Document, parameter: Parameter | { $ref: string }): Parameter {
  if (!('$ref' in parameter)) return parameter
  const name = parameter.$ref.split('/').at(-1)!
  const found = document.components.parameters[name]
  if (!found) throw new Error(`${parameter.$ref} leads nowhere`)
  return found
}

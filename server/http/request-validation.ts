import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { FastifyRequest } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import { type PointedError, validationFailed } from '../../contract/domain-error.ts'
import { jsonPointer } from './body/json-violations.ts'
import { withoutInvalidParts } from './body/valid-parts.ts'
import { malformed, type Query } from './query-string.ts'
import { countHeader } from './request-headers.ts'
import type { RouteSchema } from './route-schema.ts'
import { describeSchemaError } from './validation-messages.ts'

/** Checks all parts of a request. Throws DomainError `validation-failed` with all faults. */
export type RequestValidator = (request: FastifyRequest) => void

/** Annotations that schemas may have beyond JSON Schema; `x-must-be` completes "must be …" in error messages. */
const annotations = ['x-must-be']

/**
 * Maximum number of errors of the validator: a body can be wrong in fifty thousand places, and each error takes a
 * microsecond or two.
 */
const consideredErrorsMax = 2000
/** Each place has a few errors at most, so with fewer places than this none was omitted. */
const siftedPlacesMax = 400

/**
 * Makes the generated code of a validator throw its errors once they exceed the maximum. Errors of a branch that does
 * not match count as well, so no union may have a branch in which a valid body has that many.
 */
function stopAtMaximum(code: string): string {
  return code.replaceAll(/vErrors\.push\((\w+)\)/g, `if(vErrors.push($1)>=${consideredErrorsMax})throw vErrors`)
}

/** Maximum length of any text with a format. */
const formatLengthMax = 8 * 1024
/** Maximum number of query parameters, more than any operation has; each unknown one is an error of its own. */
const queryParametersMax = 100

const ajv = addFormats.default(
  new Ajv2020({
    code: { process: stopAtMaximum },
    allErrors: true,
    strict: true,
    strictRequired: false,
    strictTypes: false,
    verbose: true,
    discriminator: true,
    allowUnionTypes: true,
    keywords: annotations,
  }),
)

boundFormats()

/** Refuses long texts before their format is checked: some checks split the text, a megabyte of it in 50 ms. */
function boundFormats(): void {
  for (const [name, format] of Object.entries(ajv.formats)) {
    const { type = 'string', validate = format } = typeof format === 'object' && 'validate' in format ? format : {}
    if (type !== 'string' || !(validate instanceof RegExp || typeof validate === 'function')) continue
    const isOfFormat = validate instanceof RegExp ? (text: string) => validate.test(text) : (validate as TextCheck)
    ajv.addFormat(name, (text: string) => text.length <= formatLengthMax && isOfFormat(text))
  }
}

type TextCheck = (text: string) => boolean

/** Compiles a check of one JSON value, for responses of routes and for tests. */
export function compileSchema(schema: TSchema): (value: unknown) => PointedError[] {
  const validate = ajv.compile(schema)
  return (value) => pointedErrors(validate, value, '')
}

type PartCheck = (request: FastifyRequest) => PointedError[]

/** Compiles the schemas of a route into one check. Parameters of path and query become numbers and booleans. */
export function compileRequestValidator(schema: RouteSchema): RequestValidator {
  const checks: PartCheck[] = []
  if (schema.params) checks.push(pathCheck(schema.params))
  checks.push(queryCheck(schema.querystring))
  if (schema.headers) checks.push(headersCheck(schema.headers))
  const takesJson = (schema.bodyFormat ?? 'json') === 'json' && schema.bodyChecked === undefined
  const checkBody = takesJson ? bodyCheck(schema) : () => []
  return (request) => {
    schema.screenBody?.(request.caller, request.body)
    const errors: PointedError[] = []
    for (const check of checks) for (const error of check(request)) errors.push(error)
    const faults = checkBody(request)
    for (const fault of faults) errors.push(fault)
    if (errors.length === 0) return
    if (schema.checkBody) errors.push(...furtherFaults(schema.checkBody, request, faults))
    const reported = uniqueByPointer(errors)
    throw validationFailed(reported, summaryOf(reported))
  }
}

function bodyCheck(schema: RouteSchema): PartCheck {
  const validate = ajv.compile(schema.body ?? noMembers)
  const isOptional = schema.bodyOptional === true || schema.body === undefined
  return (request) => {
    // `null` is JSON too: it stays, and fails like any other value of the wrong type.
    if (request.body === undefined) {
      if (!isOptional) return [{ pointer: '', detail: 'is required: send a JSON body' }]
      request.body = {}
    }
    return pointedErrors(validate, request.body, '')
  }
}

function furtherFaults(
  check: NonNullable<RouteSchema['checkBody']>,
  request: FastifyRequest,
  faults: readonly PointedError[],
): PointedError[] {
  // In a body with this many faults not all were examined, so its valid parts are unknown.
  const sound = faults.length < siftedPlacesMax ? withoutInvalidParts(request.body, faults) : undefined
  return sound === undefined ? [] : check(sound as never, request)
}

const noMembers = { type: 'object', additionalProperties: false } as const

function pathCheck(schema: TObject): PartCheck {
  const validate = ajv.compile(schema)
  return (request) => {
    const params = request.params as Record<string, unknown>
    coerce(params, schema)
    const errors = nulErrors(params, '/path')
    return [...errors, ...pointedErrors(validate, params, '/path')]
  }
}

function queryCheck(schema: TObject | undefined): PartCheck {
  const validate = ajv.compile(schema ?? noMembers)
  return (request) => {
    const query = request.query as Query
    if (Object.keys(query).length > queryParametersMax) {
      return [{ pointer: '/query', detail: `must have at most ${queryParametersMax} parameters` }]
    }
    const errors: PointedError[] = nulErrors(query, '/query')
    for (const [name, value] of Object.entries(query)) {
      const pointer = `/query${jsonPointer([name])}`
      if (Array.isArray(value)) errors.push({ pointer, detail: 'must be given exactly once' })
      else if (value === malformed) errors.push({ pointer, detail: 'must be percent-encoded UTF-8' })
      else continue
      delete query[name]
    }
    if (schema) coerce(query, schema)
    return [...errors, ...pointedErrors(validate, query, '/query')]
  }
}

function headersCheck(schema: TObject): PartCheck {
  const validate = ajv.compile(schema)
  const names = Object.keys(schema.properties)
  return (request) => {
    const errors: PointedError[] = []
    const sent: Record<string, unknown> = {}
    for (const name of names) {
      const value = request.headers[name]
      if (value === undefined) continue
      if (countHeader(request, name) > 1)
        errors.push({ pointer: `/headers/${name}`, detail: 'must be given exactly once' })
      else sent[name] = value
    }
    return [...errors, ...pointedErrors(validate, sent, '/headers')]
  }
}

/** Integers in their canonical form, so that equal numbers are equal texts: no `1.0`, `05` or `+5`. */
const plainInteger = /^(?:0|-?[1-9]\d{0,14})$/

/**
 * Converts texts of a path or query to the numbers and booleans of their schema; other text stays unchanged and fails the validation.
 */
function coerce(values: Record<string, unknown>, schema: TObject): void {
  for (const [name, property] of Object.entries(schema.properties)) {
    const { type, default: fallback } = property as { type?: string; default?: unknown }
    const value = values[name]
    if (value === undefined) {
      if (fallback !== undefined) values[name] = fallback
    } else if (type === 'boolean') {
      if (value === 'true' || value === 'false') values[name] = value === 'true'
    } else if (type === 'integer') {
      if (typeof value === 'string' && plainInteger.test(value)) values[name] = Number(value)
    } else if (type === 'number') {
      if (typeof value === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value)) values[name] = Number(value)
    }
  }
}

/** Rejects NUL, which PostgreSQL does not accept in text, so that none reaches a query. */
function nulErrors(values: Record<string, unknown>, prefix: string): PointedError[] {
  return Object.entries(values)
    .filter(([name, value]) => name.includes('\0') || (typeof value === 'string' && value.includes('\0')))
    .map(([name]) => ({ pointer: `${prefix}${jsonPointer([name])}`, detail: 'must not contain the character NUL' }))
}

function schemaErrors(validate: ValidateFunction, value: unknown): ErrorObject[] {
  try {
    return validate(value) ? [] : (validate.errors ?? [])
  } catch (thrown) {
    if (Array.isArray(thrown)) return thrown as ErrorObject[]
    throw thrown
  }
}

function pointedErrors(validate: ValidateFunction, value: unknown, prefix: string): PointedError[] {
  const errors = schemaErrors(validate, value)
  if (errors.length === 0) return []
  // A union without a match is one error, not one for each of its branches.
  const isUnion = ({ keyword }: ErrorObject) => keyword === 'anyOf' || keyword === 'oneOf'
  // Thousands of items share a few places of the schema.
  const branches = [...new Set(errors.filter(isUnion).map((union) => `${union.schemaPath}/`))]
  const isOfBranch = (error: ErrorObject) => branches.some((branch) => error.schemaPath.startsWith(branch))
  const listed = branches.length === 0 ? errors : errors.filter((error) => !isOfBranch(error))
  return uniqueByPointer(listed.flatMap((error) => describeSchemaError(error, prefix)))
}

/** Keeps the first error of each place, which says enough: an invalid value that was removed is not also missing. */
function uniqueByPointer(errors: PointedError[]): PointedError[] {
  const byPointer = new Map<string, PointedError>()
  for (const error of errors) if (!byPointer.has(error.pointer)) byPointer.set(error.pointer, error)
  return [...byPointer.values()]
}

function summaryOf(errors: PointedError[]): string {
  const shown = errors
    .slice(0, 3)
    .map((error) => `${error.pointer === '' ? 'The body' : error.pointer} ${error.detail}`)
  return `${shown.join('; ')}${errors.length > 3 ? `; and ${errors.length - 3} more` : ''}.`
}

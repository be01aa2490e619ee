import { type ProblemSlug, problems } from '../../../contract/problems.ts'
import type { GeneratedRequest } from './generate.ts'
import { headerOf } from './request-builder.ts'
import type { WireResponse } from './send.ts'

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i
const jsonPointer = /^(\/([^~]|~[01])*)*$/s

/** What only the inside of the service can have said. */
const leaks =
  /\n\s+at |node_modules|\.ts:\d|\/server\/|FST_|ERR_[A-Z]|hub\.(records|seals|skills|archetypes|tenants)|hub_(app|ingest)|syntax error at or near|invalid input syntax|violates |duplicate key|SQLSTATE|Kysely|PostgreSQL/

/** Everything that is wrong with an answer; nothing when it is right. */
export function checkResponse(request: GeneratedRequest, answer: WireResponse, baseUrl: string): string[] {
  const complaints: string[] = []
  const { status, headers } = answer
  if (!(status >= 200 && status < 500)) complaints.push(`status ${status}`)
  const requestId = headers['x-service-request-id'] ?? ''
  if (!uuidV7.test(requestId)) complaints.push(`request id ${JSON.stringify(requestId)}`)
  const sent = request.headers.filter(([name]) => name === 'X-Service-Request-ID').map(([, value]) => value)
  // The headers of a 431 were never read.
  const wasRead = request.raw === undefined && status !== 431
  if (wasRead && sent.length === 1 && uuidV7.test(sent[0]!) && sent[0] !== requestId) {
    complaints.push('another request id than the client sent')
  }
  // Answers to HEAD have headers only; raw ones may be to any method.
  const hasNoBody = answer.body.length === 0 && (request.method === 'HEAD' || request.raw !== undefined)
  if (status >= 400) complaints.push(...complaintsAboutProblem(request, answer, baseUrl, hasNoBody))
  else if (!hasNoBody && status < 300) complaints.push(...complaintsAboutSuccess(request, answer))
  complaints.push(...complaintsAboutDescription(request, answer))
  return complaints
}

function complaintsAboutProblem(
  request: GeneratedRequest,
  { status, headers, body }: WireResponse,
  baseUrl: string,
  hasNoBody: boolean,
): string[] {
  const complaints: string[] = []
  const mediaType = headers['content-type']?.split(';')[0]
  if (mediaType === 'text/html' && status === 404 && isMistyped(request)) return complaintsAboutMarkup(body, hasNoBody)
  if (mediaType === 'text/html' && asksForPage(request)) return complaintsAboutPage(headers, body, hasNoBody)
  // Errors of JSON-RPC, in its form.
  if (request.operation.operationId === 'callMcp' && mediaType === 'application/json') {
    return hasNoBody || /"error":\{/.test(body.toString()) ? [] : ['no error of JSON-RPC']
  }
  const isOAuth = ['issueServiceToken', 'registerClient'].includes(request.operation.operationId)
  const mayBePlain = isOAuth && /application\/json/i.test(headerOf(request.headers, 'Accept') ?? '')
  if (mediaType !== 'application/problem+json' && !(mayBePlain && mediaType === 'application/json')) {
    complaints.push(`content type ${headers['content-type']}`)
  }
  if (status === 405 && !headers.allow) complaints.push('405 without Allow')
  if ((status === 429 || status === 503) && !(Number(headers['retry-after']) >= 1)) complaints.push('no Retry-After')
  if (hasNoBody) return complaints
  const text = body.toString()
  if (leaks.test(text)) complaints.push(`shows its inside: ${leaks.exec(text)?.[0]}`)
  let problem: Record<string, unknown>
  try {
    problem = JSON.parse(text)
  } catch {
    return [...complaints, `not JSON: ${text.slice(0, 200)}`]
  }
  const { type, title, detail, instance, errors } = problem
  const slug = String(type).startsWith(`${baseUrl}/errors/`) ? String(type).slice(baseUrl.length + 8) : ''
  const known = Object.hasOwn(problems, slug) ? problems[slug as ProblemSlug] : undefined
  if (!known) complaints.push(`type ${type}`)
  if (known && (known.status !== status || known.title !== title)) complaints.push(`${slug} with ${status} ${title}`)
  if (problem.status !== status) complaints.push(`status member ${problem.status}`)
  if (typeof detail !== 'string' || detail === '') complaints.push('no detail')
  if (instance !== headers['x-service-request-id']) complaints.push(`instance ${instance}`)
  if (slug === 'validation-failed' && !Array.isArray(errors)) complaints.push('no errors')
  for (const error of Array.isArray(errors) ? errors : []) {
    if (typeof error?.pointer !== 'string' || !jsonPointer.test(error.pointer))
      complaints.push(`pointer ${error?.pointer}`)
    if (typeof error?.detail !== 'string' || error.detail === '') complaints.push('an error without detail')
  }
  return complaints
}

/** Browsers navigate to these; what they are answered with is for people. */
const navigatedTo = ['startLogin', 'completeLogin', 'authorizeClient', 'decideAuthorization']

function asksForPage({ operation, target, headers }: GeneratedRequest): boolean {
  const isForPeople = navigatedTo.includes(operation.operationId) || target.startsWith('/errors/')
  return isForPeople && /text\/html/i.test(headerOf(headers, 'Accept') ?? '')
}

/** A browser gets the page of the web UI for an address that is nobody's. */
function isMistyped({ method, target, headers }: GeneratedRequest): boolean {
  const isOfApi = /^\/(api|v1|scim|errors|assets|\.well-known)(\/|$)/.test(target)
  return !isOfApi && ['GET', 'HEAD'].includes(method) && /text\/html/i.test(headerOf(headers, 'Accept') ?? '')
}

function complaintsAboutMarkup(body: Buffer, hasNoBody: boolean): string[] {
  if (hasNoBody) return []
  const text = body.toString()
  const complaints = leaks.test(text) ? [`shows its inside: ${leaks.exec(text)?.[0]}`] : []
  if (!text.startsWith('<!doctype html>')) complaints.push(`no page: ${text.slice(0, 200)}`)
  return complaints
}

function complaintsAboutPage(headers: WireResponse['headers'], body: Buffer, hasNoBody: boolean): string[] {
  const complaints = complaintsAboutMarkup(body, hasNoBody)
  if (!hasNoBody && !body.toString().includes(String(headers['x-service-request-id'])))
    complaints.push('a page without the request id')
  return complaints
}

function complaintsAboutSuccess(request: GeneratedRequest, { status, headers, body }: WireResponse): string[] {
  if (navigatedTo.includes(request.operation.operationId) && headers['content-type']?.startsWith('text/html')) return []
  if (!isForOperation(request)) return []
  if (request.operation.operationId === 'downloadExport') return complaintsAboutFile(headers)
  const validate = request.operation.answers.get(status)
  if (!validate) return []
  if (!headers['content-type']?.startsWith('application/json')) return [`content type ${headers['content-type']}`]
  return validate(JSON.parse(body.toString())) ? [] : [`not as described: ${JSON.stringify(validate.errors)}`]
}

/** Files are what they are; a browser must take them for nothing else. */
function complaintsAboutFile(headers: WireResponse['headers']): string[] {
  const isAttached = headers['content-disposition']?.startsWith('attachment; filename=')
  const isTaken = headers['content-type']?.startsWith('application/x-ndjson') && headers['x-content-type-options']
  return isAttached && isTaken === 'nosniff' ? [] : [`a file as ${JSON.stringify(headers)}`]
}

/** Whether method and address are still those of the operation. */
function isForOperation({ operation, method, target, raw }: GeneratedRequest): boolean {
  if (raw !== undefined || method !== operation.method) return false
  const path = target.split('?', 1)[0] ?? ''
  // Without anything in it that could be another address or none.
  const pattern = operation.path
    .replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
    .replaceAll(/\{[a-z_]+\}/g, '(?!\\.)[A-Za-z0-9._-]+')
  return new RegExp(`^${pattern}$`).test(path)
}

/** The document names every status an operation answers with; what concerns all of HTTP it need not. */
function complaintsAboutDescription(request: GeneratedRequest, { status }: WireResponse): string[] {
  if (!isForOperation(request) || status === 431) return []
  return request.operation.answers.has(status) ? [] : [`${status} is not in the OpenAPI document`]
}

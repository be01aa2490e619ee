import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { isJsonObject, type JsonValue } from '../../../provenance/json.ts'
import { clientOf, createMcpServer, type McpServerParts } from './mcp-server.ts'
import type { AgentClient } from './tools/tool.ts'

export interface McpRequest {
  url: string
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** A JSON-RPC message that passed its schema. */
  message: JsonValue
}

export interface McpExchangeResult {
  status: number
  /** JSON; undefined for an empty body. */
  text: string | undefined
  /** Names the client in later requests of the older revisions, which name it only once. */
  sessionId: string | undefined
}

const sessionHeader = 'mcp-session-id'
const sessionPrefix = 'client.'

/**
 * Serves one message without any state: the newest revision of the protocol, and the older ones, whose clients begin
 * with `initialize`.
 */
export async function exchange(
  { url, headers, message }: McpRequest,
  parts: Omit<McpServerParts, 'client'>,
): Promise<McpExchangeResult> {
  const request = new Request(url, { method: 'POST', headers: webHeaders(headers) })
  const { method, params } = isJsonObject(message) ? message : {}
  // Its answer would be a stream without an end, and nothing that this server lists changes.
  if (method === 'subscriptions/listen') return methodNotFound(message)
  const client = clientIn(String(headers[sessionHeader] ?? ''))
  const createServer = () => createMcpServer({ ...parts, client })
  const isLegacy = await isLegacyRequest(request, message)
  const response = isLegacy
    ? await serveLegacy(createServer(), request, message)
    : await createMcpHandler(createServer, { legacy: 'reject' }).fetch(request, { parsedBody: message })
  const text = await response.text()
  const isInitialized =
    method === 'initialize' && response.ok && isJsonObject(params) && isJsonObject(params.clientInfo)
  return {
    status: response.status,
    text: text === '' ? undefined : text,
    sessionId: isInitialized ? sessionIdOf(clientOf(params.clientInfo as { name?: unknown })) : undefined,
  }
}

async function serveLegacy(server: Server, request: Request, message: JsonValue): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await transport.handleRequest(request, { parsedBody: message })
  } finally {
    await server.close()
  }
}

function webHeaders(headers: McpRequest['headers']): Headers {
  const web = new Headers()
  for (const name of ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']) {
    const value = headers[name]
    if (typeof value === 'string') web.set(name, value)
  }
  // The SDK demands both types, but each response is JSON: clients that accept JSON are served.
  const accepted = web.get('accept')
  if (accepted === null || /(application|\*)\/(json|\*)/.test(accepted))
    web.set('accept', 'application/json, text/event-stream')
  return web
}

function methodNotFound(message: JsonValue): McpExchangeResult {
  const { id = null } = isJsonObject(message) ? message : {}
  const error = { code: -32601, message: 'subscriptions/listen is not supported: no list of this server changes.' }
  return { status: 404, text: JSON.stringify({ jsonrpc: '2.0', id, error }), sessionId: undefined }
}

function sessionIdOf(client: AgentClient | undefined): string | undefined {
  return client && `${sessionPrefix}${Buffer.from(JSON.stringify([client.name, client.version])).toString('base64url')}`
}

/** Returns the client that a session id names. The id is a statement of the client itself and grants nothing. */
function clientIn(sessionId: string): AgentClient | undefined {
  if (!sessionId.startsWith(sessionPrefix) || sessionId.length > 2048) return undefined
  try {
    const named: unknown = JSON.parse(Buffer.from(sessionId.slice(sessionPrefix.length), 'base64url').toString())
    return Array.isArray(named) ? clientOf({ name: named[0], version: named[1] }) : undefined
  } catch {
    return undefined
  }
}

import { SdkHttpError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { HubClient, HubError } from '../../sdk/typescript/src/index.ts'

/** Identifies errors of the connection to the Hub (JSON-RPC: implementation-defined server errors). */
const hubErrorCode = -32000
/** Maximum milliseconds until a response is complete. */
const requestMs = 120_000

/**
 * Forwards messages between stdin and stdout and the endpoint of a Hub, with a token that it renews. Returns when stdin
 * ends or stdout is closed. Requests in flight are then aborted, because nobody reads their responses.
 */
export async function forwardMcp(target: {
  baseUrl: string
  tenant: string
  clientId: string
  clientSecret: string
}): Promise<void> {
  const ending = new AbortController()
  const hub = new HubClient({ ...target, signal: ending.signal })
  const agent = new StdioServerTransport()
  const server = new StreamableHTTPClientTransport(new URL(`${target.baseUrl}/mcp`), {
    fetch: (address, init) => hub.fetch(address, withTimeout(init)),
  })
  const open = new Set<Promise<void>>()

  async function forward(message: JSONRPCMessage): Promise<void> {
    try {
      await server.send(message)
    } catch (error) {
      if (ending.signal.aborted) return
      const text = describe(error)
      process.stderr.write(`hub mcp: ${text}\n`)
      if ('id' in message && 'method' in message) {
        void answer({ jsonrpc: '2.0', id: message.id, error: { code: hubErrorCode, message: text } })
      }
    }
  }

  /** Writes a message to stdout. A failure closes the transport, so it needs no report. */
  const answer = (message: JSONRPCMessage) => agent.send(message).catch(() => agent.close())

  agent.onmessage = (message) => {
    const forwarding = forward(message).finally(() => open.delete(forwarding))
    open.add(forwarding)
  }
  server.onmessage = (message) => {
    // The older revisions name theirs only here, and later requests repeat it.
    const version = 'result' in message ? message.result.protocolVersion : undefined
    if (typeof version === 'string') server.setProtocolVersion(version)
    void answer(message)
  }
  const ended = new Promise<void>((resolve) => {
    agent.onclose = resolve
  })
  await server.start()
  await agent.start()
  await ended
  ending.abort()
  await Promise.all(open)
  await server.close()
}

function withTimeout(init: RequestInit = {}): RequestInit {
  const timeout = AbortSignal.timeout(requestMs)
  return { ...init, signal: init.signal ? AbortSignal.any([init.signal, timeout]) : timeout }
}

/** Returns the problem of a response, or that the Hub cannot be reached. Never quotes the token. */
function describe(error: unknown): string {
  if (error instanceof HubError) return `The Hub refused the service account: ${error.message}`
  if (error instanceof SdkHttpError)
    return `The Hub refused the message: ${problemIn(error.data.text) ?? error.message}`
  if (!(error instanceof Error)) return `Cannot reach the Hub: ${error}`
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `Cannot reach the Hub: ${error.message}${cause}`
}

function problemIn(text: unknown): string | undefined {
  try {
    const { title, detail } = JSON.parse(String(text)) as { title?: unknown; detail?: unknown }
    return typeof detail === 'string' ? `${title}: ${detail}` : undefined
  } catch {
    return undefined
  }
}

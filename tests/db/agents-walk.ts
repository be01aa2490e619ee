import type { TestHub } from '../support/hub.ts'

/** The operations for agents. What their tools send is walked by the operations that they call. */
export async function walkAgents(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const message = { jsonrpc: '2.0', id: 1, method: 'resources/list' }
  const headers = { accept: 'application/json, text/event-stream' }
  const answers = [await hub.call(tenant, 'POST', '/mcp', { body: message, headers })]
  for (const path of ['', '/mcp']) {
    answers.push(await hub.call(tenant, 'GET', `/.well-known/oauth-protected-resource${path}`))
  }
  for (const { status, text } of answers) if (status >= 300) throw new Error(text)
}

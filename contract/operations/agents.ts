import { anyone, anyToken, type Operation } from './operation.ts'

/** The endpoint of agents (Model Context Protocol), and where its clients get tokens. */
export const agentOperations = {
  callMcp: {
    method: 'POST',
    path: '/mcp',
    access: anyToken,
    // Each tool call is counted once more, as the operation that it makes.
    rateClass: 'hub-read',
    body: 'record',
    // The protocol demands it: a page could reach a Hub on the machine of its reader by rebinding a name.
    sameSiteOnly: true,
    isProtectedResource: true,
    tag: 'Agents',
    summary: 'Model Context Protocol, Streamable HTTP',
  },
  getProtectedResource: {
    method: 'GET',
    path: '/.well-known/oauth-protected-resource',
    access: anyone,
    rateClass: null,
    tag: 'Agents',
    summary: 'Protected resource metadata (RFC 9728)',
  },
  getMcpResource: {
    method: 'GET',
    path: '/.well-known/oauth-protected-resource/mcp',
    access: anyone,
    rateClass: null,
    tag: 'Agents',
    summary: 'Protected resource metadata at the address that RFC 9728 derives from /mcp',
  },
} as const satisfies Record<string, Operation>

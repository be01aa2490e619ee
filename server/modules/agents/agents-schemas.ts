import { Type } from 'typebox'
import { scopeNames } from '../../../contract/scopes.ts'

const anyObject = (description: string, examples: unknown[]) =>
  Type.Record(Type.String(), Type.Unknown(), { description, examples })

const id = Type.Optional(
  Type.Union([Type.String({ maxLength: 256 }), Type.Integer()], {
    description: 'Id of the request; absent in notifications',
    examples: [1],
  }),
)

/** A message of JSON-RPC 2.0. The protocol library checks its members. */
export const McpMessage = Type.Object(
  {
    jsonrpc: Type.Literal('2.0', { description: 'Version of JSON-RPC' }),
    id,
    method: Type.Optional(Type.String({ maxLength: 256, description: 'Method', examples: ['tools/call'] })),
    params: Type.Optional(
      anyObject('Parameters of the method', [
        { name: 'get_record', arguments: { record_id: '019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a' } },
      ]),
    ),
    result: Type.Optional(anyObject('Response to a request of the server; acknowledged and ignored', [{}])),
    error: Type.Optional(anyObject('Error response to a request of the server; acknowledged and ignored', [{}])),
  },
  { additionalProperties: false, title: 'MCP message' },
)

export const McpResponse = Type.Object(
  {
    jsonrpc: Type.Literal('2.0', { description: 'Version of JSON-RPC' }),
    id: Type.Optional(
      Type.Union([Type.String(), Type.Integer(), Type.Null()], {
        description: 'Id of the request; null if it could not be read',
        examples: [1],
      }),
    ),
    result: Type.Optional(anyObject('Result of the method', [{ content: [], structuredContent: {} }])),
    error: Type.Optional(anyObject('Error of the protocol', [{ code: -32601, message: 'Method not found' }])),
  },
  { additionalProperties: false, title: 'MCP response' },
)

export const ProtectedResource = Type.Object(
  {
    resource: Type.String({ description: 'Identifier of the resource', examples: ['https://hub.example.com/mcp'] }),
    authorization_servers: Type.Array(Type.String(), {
      description: 'Issuers whose tokens are accepted',
      examples: [['https://hub.example.com']],
    }),
    scopes_supported: Type.Array(Type.String(), { description: 'Scopes', examples: [[...scopeNames]] }),
    bearer_methods_supported: Type.Array(Type.Literal('header'), { description: 'Places of the token' }),
    resource_name: Type.String({ description: 'Name for people', examples: ['Org-Memory Hub'] }),
  },
  { additionalProperties: false, description: 'RFC 9728, section 2' },
)

// Serves client credentials by the package `oidc-provider`: JWT access tokens signed with ES256 for one resource, one
// client and one key, with its own adapter in memory.
import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import Provider from 'oidc-provider'
import { addressOf, announceServer } from './announce.ts'

const { clientId, clientSecret, scope } = JSON.parse(await text(process.stdin)) as {
  clientId: string
  clientSecret: string
  scope: string
}
const server = createServer()
await announceServer(server, () => {
  const issuer = addressOf(server)
  const resource = `${issuer}/api`
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
        // No id token is issued, but the algorithm must fit the only key.
        id_token_signed_response_alg: 'ES256',
        scope,
      },
    ],
    scopes: scope.split(' '),
    jwks: { keys: [{ ...key, alg: 'ES256', use: 'sig' }] },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        getResourceServerInfo: () => ({
          scope,
          audience: resource,
          accessTokenTTL: 3600,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
  })
  server.on('request', provider.callback())
})

import { Type } from 'typebox'
import { object } from '../../../contract/object-schema.ts'

const Issuer = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'Issuer exactly as in the metadata of the provider, byte for byte',
  examples: ['https://login.acme.example'],
})
// Characters of VSCHAR (RFC 6749, appendix A).
const printable = { minLength: 1, pattern: '^[\\x20-\\x7e]*$', 'x-must-be': 'printable ASCII' }
const ClientId = Type.String({ ...printable, maxLength: 255, examples: ['0oa1gjh63g214q0Hq0g4'] })
const Domain = Type.String({ minLength: 1, maxLength: 253, examples: ['acme.example'] })

export const SsoConfiguration = object({
  issuer: Issuer,
  client_id: ClientId,
  client_secret: Type.String({
    ...printable,
    maxLength: 1000,
    format: 'password',
    examples: ['s9QmVb3xQ8ZrT2vYw0LxNp6BdHs9'],
  }),
  allowed_email_domains: Type.Array(Domain, {
    minItems: 1,
    maxItems: 100,
    description: 'Domains whose addresses can sign in. Subdomains are separate domains.',
  }),
})

export const SsoResponse = object({
  connection_id: Type.String({ examples: ['sso_Vb3xQ8ZrT2vYw0LxNp6BdHs9'] }),
  issuer: Issuer,
  client_id: ClientId,
  allowed_email_domains: Type.Array(Domain),
  redirect_uri: Type.String({
    description: 'Redirect URI to register at the provider',
    examples: ['https://hub.example.com/api/v1/auth/callback'],
  }),
  updated_at: Type.String({ format: 'date-time', examples: ['2026-03-14T09:26:53.589793Z'] }),
})

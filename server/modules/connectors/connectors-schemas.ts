import { Type } from 'typebox'
import { credentialLengthMax, credentialsMax } from '../../../contract/limits.ts'
import { patterns } from '../../../contract/literals.ts'
import { object } from '../../../contract/object-schema.ts'
import { displayName } from '../../../contract/request-schemas.ts'
import { InboundConnectionSchema, NextCursor, RotatedInboundSecretSchema } from '../../../contract/response-schemas.ts'

const exampleId = 'con_7Kd2mQx9RtVb4LhZs8WcNp3F'
const exampleUrl = 'https://skills.acme.example/hub'

const ConnectorId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Id of the connector',
  examples: [exampleId],
})
const Platform = Type.String({ pattern: patterns.llmPlatform, examples: ['claude'] })
const DisplayName = displayName({ examples: ['Claude, legal'] })
const Delivery = Type.Enum(['push', 'pull'], {
  description: '`push`: the Hub sends the manifest to `publish_url`. `pull`: the connector fetches it.',
  examples: ['push'],
})
const PublishUrl = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'Address that receives the manifest. Only with `push`',
  examples: [exampleUrl],
})
// Printable ASCII, since some credentials become headers.
const Credential = Type.String({
  minLength: 1,
  maxLength: credentialLengthMax,
  pattern: '^[\\x20-\\x7e]*$',
  'x-must-be': 'printable ASCII',
})
const CredentialsBody = Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' }), Credential, {
  maxProperties: credentialsMax,
  additionalProperties: false,
  description:
    'Stored encrypted and never returned. With `push`, `bearer_token` is sent as `Authorization: Bearer`, ' +
    '`api_key` as `X-API-Key`, and `signing_secret` signs each request like webhooks (`X-Service-Signature`). ' +
    'With the platform `claude`, `anthropic_api_key` publishes through the Skills API of Anthropic. Others are ' +
    'stored but not sent; the response lists them in `unused_credentials`. Credentials are sent only to the ' +
    'origin of the `publish_url` for which they were given.',
  examples: [{ bearer_token: 's9QmVb3xQ8ZrT2vYw0LxNp6BdHs9' }],
})
const time = (description: string) => Type.String({ description, examples: ['2026-07-01T09:30:00.000000Z'] })

export const ConnectorParams = object({ connector_id: ConnectorId })

export const ConnectorBody = object({
  platform: Platform,
  display_name: DisplayName,
  delivery: Delivery,
  publish_url: Type.Optional(PublishUrl),
  credentials: Type.Optional(CredentialsBody),
})

export const ConnectorChangesBody = object({
  display_name: Type.Optional(DisplayName),
  delivery: Type.Optional(Delivery),
  publish_url: Type.Optional(PublishUrl),
  credentials: Type.Optional(CredentialsBody),
})

export const CredentialsOnlyBody = object({ credentials: CredentialsBody })

const HealthSchema = object({
  status: Type.Enum(['ok', 'waiting', 'failing', 'late'], {
    description:
      '`ok`: published within the last 60 seconds. `waiting`: no attempt yet. `failing`: the last attempt ' +
      'failed. `late`: the last publish is older, or with `pull` the manifest was not fetched.',
    examples: ['ok'],
  }),
  last_publish_at: Type.Optional(time('Time of the last accepted publish or fetch')),
  last_attempt_at: Type.Optional(time('When the last attempt ended')),
  failures: Type.Integer({ minimum: 0, description: 'Consecutive failed attempts', examples: [0] }),
  error: Type.Optional(
    object(
      {
        code: Type.String({ examples: ['http-5xx'] }),
        detail: Type.String({ examples: ['The receiver failed itself (500).'] }),
        at: time('Time of the failure'),
        status: Type.Optional(Type.Integer({ description: 'HTTP status of the receiver', examples: [500] })),
      },
      { description: 'Error of the last attempt; absent after a success' },
    ),
  ),
  etag: Type.Optional(Type.String({ description: 'Hash of the last published manifest', examples: ['W/"b7e2"'] })),
})

export const ConnectorSchema = object({
  connector_id: ConnectorId,
  platform: Platform,
  display_name: DisplayName,
  delivery: Delivery,
  publish_url: Type.Optional(PublishUrl),
  manifest_url: Type.String({
    description: 'Address of the manifest for the connector',
    examples: [`https://hub.example.com/api/v1/skill-entitlement/distribution/manifest?connector_id=${exampleId}`],
  }),
  credentials: Type.Array(Type.String(), {
    description: 'Names of the credentials that are set',
    examples: [['bearer_token']],
  }),
  unused_credentials: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Stored credentials that are not sent: unknown names, and all with `pull`. Absent if there are none',
      examples: [['token']],
    }),
  ),
  inbound: InboundConnectionSchema(exampleId),
  log_name: Type.String({
    description: 'Name of the keys that sign the manifests, in /.well-known/provenance-keys.json',
    examples: ['orghub/log/4k2WcXbFd0aVtnYzS1mQ7e'],
  }),
  created_at: time('When the platform was connected'),
  created_by: Type.String({ examples: ['saAb3xQ8ZrT2vYw0LxNp6BdHs9'] }),
  updated_at: time('Time of the last change'),
  health: HealthSchema,
})

export const ConnectorList = object({ items: Type.Array(ConnectorSchema), next_cursor: NextCursor })

export const RemovedSchema = object({ connector_id: ConnectorId, removed_at: time('When the connector was removed') })

export const RotatedSecretSchema = RotatedInboundSecretSchema(exampleId)

export const connectorLocation = { location: Type.String({ description: 'The connector' }) }

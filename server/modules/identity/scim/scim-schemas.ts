import { Type } from 'typebox'
import { scimGroupLengthMax, scimMappingsMax } from '../../../../contract/limits.ts'
import { patterns } from '../../../../contract/literals.ts'
import { object } from '../../../../contract/object-schema.ts'
import { InboundConnectionSchema, RotatedInboundSecretSchema } from '../../../../contract/response-schemas.ts'

const time = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-03-14T09:26:53.589793Z'] })

const Mode = Type.Enum(['push', 'pull'], {
  description: '`push`: the directory sends changes by SCIM 2.0; `pull`: the Hub reads the directory',
  examples: ['push'],
})
const BaseUrl = Type.String({
  minLength: 1,
  maxLength: 2048,
  description:
    'Only with `pull`: base address of the SCIM 2.0 service of the directory, to which `/Users` is added. ' +
    'Unchanged if absent',
  examples: ['https://directory.acme.example/scim/v2'],
})
const Mapping = object({
  group: Type.String({
    minLength: 1,
    maxLength: scimGroupLengthMax,
    pattern: '^[^\\p{C}]*$',
    'x-must-be': 'a string without control characters',
    description: 'The display name of a group, its external id, or its id',
    examples: ['Analysts'],
  }),
  archetype_id: Type.String({ pattern: patterns.identifier, examples: ['analyst'] }),
})
const Mappings = Type.Array(Mapping, {
  maxItems: scimMappingsMax,
  description:
    'Maps groups to archetypes. Unchanged if absent, and empty at first. A person has the archetypes of all their groups.',
})

export const ScimConfigurationBody = object(
  {
    mode: Mode,
    base_url: Type.Optional(BaseUrl),
    bearer_token: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 8192,
        pattern: '^[\\x21-\\x7e]*$',
        'x-must-be': 'visible ASCII',
        format: 'password',
        description:
          'Only with `pull`: token that the Hub sends to the directory. Unchanged if absent and `base_url` is the same',
        examples: ['zR8vB2nM5kQ7wE1t'],
      }),
    ),
    group_archetype_map: Type.Optional(Mappings),
  },
  {
    examples: [
      { mode: 'push', group_archetype_map: [{ group: 'Analysts', archetype_id: 'analyst' }] },
      {
        mode: 'pull',
        base_url: 'https://directory.acme.example/scim/v2',
        bearer_token: 'zR8vB2nM5kQ7wE1t',
        group_archetype_map: [{ group: 'Analysts', archetype_id: 'analyst' }],
      },
    ],
  },
)

const exampleId = 'scim_Vb3xQ8ZrT2vYw0LxNp6BdHs9'

export const RotatedSecretSchema = RotatedInboundSecretSchema(exampleId)

export const ScimState = object({
  connection_id: Type.String({ examples: [exampleId] }),
  mode: Mode,
  scim_base_url: Type.String({
    description: 'Only with `push`: address to enter at the directory',
    examples: ['https://hub.example.com/scim/v2/acme'],
  }),
  bearer_token: Type.Optional(
    Type.String({
      description: 'Only with `push`: token to enter at the directory. Returned only once.',
      examples: ['scim7Kd2mQx9RtVb4LhZs8WcNp3F6gTyU1oPaSdEjHkWzQmB'],
    }),
  ),
  base_url: Type.Optional(BaseUrl),
  group_archetype_map: Type.Array(Mapping),
  unknown_archetypes: Type.Optional(
    Type.Array(Type.String({ examples: ['analyst'] }), {
      description:
        'Archetypes of the map that the tenant does not have. Nobody is assigned to them until `PUT ' +
        '/api/v1/roster/archetypes` adds them. Absent if there are none.',
    }),
  ),
  inbound: InboundConnectionSchema(exampleId),
  former_token_until: Type.Optional(time('End of the validity of the previous token')),
  last_request_at: Type.Optional(
    time('Only with `push`: time of the last request of the directory, accurate to 30 seconds'),
  ),
  created_at: time('Time of the first configuration'),
  updated_at: time('Time of the last change'),
})

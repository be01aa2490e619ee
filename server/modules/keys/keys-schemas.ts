import { Type } from 'typebox'
import { object } from '../../../contract/object-schema.ts'

const TokenKey = object({
  kty: Type.String({ description: 'Key type', examples: ['EC'] }),
  kid: Type.String({
    description: 'Key id, as in the header of the tokens it signed',
    examples: ['tNBQelTEDlgfeMoHMB1AA2kxBpMLIhZ-muACHtgfABY'],
  }),
  alg: Type.String({ description: 'The only algorithm this key is used with', examples: ['ES256'] }),
  use: Type.Literal('sig'),
  crv: Type.Optional(Type.String({ examples: ['P-256'] })),
  x: Type.Optional(Type.String()),
  y: Type.Optional(Type.String()),
  n: Type.Optional(Type.String()),
  e: Type.Optional(Type.String()),
})

export const TokenKeySet = object({ keys: Type.Array(TokenKey) }, { description: 'A JSON Web Key Set (RFC 7517)' })

const ProvenanceKey = object({
  key_id: Type.String({
    description: 'First 16 bytes of the key hash, in hexadecimal',
    examples: ['4f1c0a2b9d3e5f60718293a4b5c6d7e8'],
  }),
  name: Type.String({
    description: 'Opaque name of the log whose seals the key signs',
    examples: ['orghub/log/4k2WcXbFd0aVtnYzS1mQ7e'],
  }),
  algorithm: Type.Literal('Ed25519'),
  public_key: Type.String({
    description: 'The 32 bytes of the key, in base64',
    examples: ['mG11niVfUAIzSuOLMs2LaJCiUDRqxY/mF4m8SYgXelg='],
  }),
  vkey: Type.String({
    description: 'The key as a C2SP signed-note verifier key',
    examples: ['orghub/log/4k2WcXbFd0aVtnYzS1mQ7e+ce62d333+AZhtdZ4lX1ACM0rjizLNi2iQolA0asWP5heJvEmIF3pY'],
  }),
  created_at: Type.String({ format: 'date-time' }),
  retired_at: Type.Optional(
    Type.String({ format: 'date-time', description: 'When the key stopped signing. What it signed stays valid.' }),
  ),
  succession: Type.Optional(
    Type.String({
      description:
        'Signed note (C2SP signed-note) by which the previous key introduces this one; absent for the first key',
      examples: [
        'orghub/succession/v1\nlog orghub/log/4k2WcXbFd0aVtnYzS1mQ7e\nfrom 4f1c0a2b9d3e5f60718293a4b5c6d7e8\nto orghub/log/4k2WcXbFd0aVtnYzS1mQ7e+ce62d333+AZhtdZ4lX1ACM0rjizLNi2iQolA0asWP5heJvEmIF3pY\ntime 1767323045123456\n\n— orghub/log/4k2WcXbFd0aVtnYzS1mQ7e TxwKK…\n',
      ],
    }),
  ),
})

export const ProvenanceKeyDocument = object(
  { keys: Type.Array(ProvenanceKey) },
  { description: 'Every key that ever signed a seal; none is ever withdrawn' },
)

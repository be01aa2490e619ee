import { Type } from 'typebox'

/** What a trial of a connection found, step by step. */
export const ConnectionTrial = Type.Object(
  {
    ok: Type.Boolean({ description: 'Whether every step went well' }),
    steps: Type.Array(
      Type.Object(
        {
          name: Type.String({ examples: ['users'] }),
          ok: Type.Boolean(),
          detail: Type.String({
            description: 'What was found; or what is wrong, and what to do',
            examples: ['GET /Users: 412 people.'],
          }),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
)

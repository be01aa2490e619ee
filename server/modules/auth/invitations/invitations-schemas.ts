import { Type } from 'typebox'
import { object } from '../../../../contract/object-schema.ts'

const UserId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Id of the user',
  examples: ['usr_7Kd2mQx9RtVb4LhZs8WcNp3F'],
})

export const InvitedParams = object({ user_id: UserId })

export const InvitationBody = object({
  delivery: Type.Optional(
    Type.Enum(['mail', 'link'], {
      description:
        '`mail`: the Hub mails the invitation; `link`: the response has its address. Default is `mail` if the Hub has ' +
        'a mail server, otherwise `link`.',
      examples: ['link'],
    }),
  ),
})

export const InvitationResponse = object({
  user_id: UserId,
  delivery: Type.Enum(['mail', 'link'], { description: 'How the invitation is delivered', examples: ['link'] }),
  sign_in: Type.Enum(['link', 'identity_provider'], {
    description:
      '`link`: the address of the invitation signs the person in. `identity_provider`: the tenant has single sign-on, ' +
      'so the invitation leads to the sign-in page.',
    examples: ['link'],
  }),
  url: Type.Optional(
    Type.String({
      description: 'Address to hand over, once; absent if the Hub mails it',
      examples: ['https://hub.example.com/invitation/acme/Zk3vXo5mT1yq8Lr0Jd2sWbNc7HfEuPgA4iKtYx6QvR9'],
    }),
  ),
  expires_at: Type.Optional(
    Type.String({
      description: 'End of a link that signs in; absent with single sign-on',
      examples: ['2026-07-02T09:30:00.000000Z'],
    }),
  ),
})

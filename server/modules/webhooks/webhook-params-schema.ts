import { Type } from 'typebox'

export const WebhookId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Id of the endpoint',
  examples: ['whk_7Kd2mQx9RtVb4LhZs8WcNp3F'],
})

export const WebhookParams = Type.Object({ webhook_id: WebhookId }, { additionalProperties: false })

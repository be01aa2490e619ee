/**
 * The bodies that an endpoint can receive: messages of the Hub, or the shape that an incoming webhook of Slack or a
 * workflow of Microsoft Teams takes.
 */
export const webhookFormats = ['hub', 'slack', 'teams'] as const
export type WebhookFormat = (typeof webhookFormats)[number]

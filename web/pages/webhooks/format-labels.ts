import type { WebhookFormat } from '../../../contract/webhook-formats.ts'

export const formatLabels: Record<WebhookFormat, string> = {
  hub: 'Messages of the Hub (JSON)',
  slack: 'Slack (incoming webhook)',
  teams: 'Microsoft Teams (workflow)',
}

import { Code, Tabs, Text } from '@mantine/core'

const node = `import { verifyWebhook, WebhookRefused } from './verify-webhook-node.ts'

let message
try { message = verifyWebhook({ body, headers: request.headers, secret }) }
catch (error) { if (error instanceof WebhookRefused) return response.writeHead(400).end(); throw error }`

const python = `from org_memory_hub import WebhookRefused, verify_webhook

try:
    message = verify_webhook(body, headers["X-Service-Signature"], secret)
except WebhookRefused:
    return "", 400`

/** Shows how a receiver verifies a message, from docs/webhook-receiver.md. */
export function VerificationCode() {
  return (
    <div>
      <Text size="sm" fw={600}>
        Verify what comes in
      </Text>
      <Text size="sm" c="dimmed" mb={4}>
        For Node, install sdk/typescript, or copy the files of its src/webhooks, which need nothing else. For Python,
        install sdk/python. Give them the bytes of the body as they came.
      </Text>
      <Tabs defaultValue="node" keepMounted={false}>
        <Tabs.List aria-label="Language">
          <Tabs.Tab value="node">Node</Tabs.Tab>
          <Tabs.Tab value="python">Python</Tabs.Tab>
        </Tabs.List>
        {Object.entries({ node, python }).map(([language, code]) => (
          <Tabs.Panel key={language} value={language} pt="xs">
            <Code block tabIndex={0}>
              {code}
            </Code>
          </Tabs.Panel>
        ))}
      </Tabs>
    </div>
  )
}

"""The MCP gateway: tools, tokens and rights over streamable HTTP."""

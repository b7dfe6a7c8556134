// OAuth

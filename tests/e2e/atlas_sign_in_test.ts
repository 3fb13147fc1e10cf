import { assertEquals } from "@std/assert";
import { emailOf, PASSWORD, serveAtlas } from "../atlas/serve_atlas.ts";
import { assertAccessible, loadAxe } from "./accessibility.ts";
import { startBrowser } from "./browser.ts";
import type { Page } from "./browser.ts";

/** Fills in the sign-up form and submits it. */
async function signUp(page: Page, name: string): Promise<void> {
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("E-mail address").fill(emailOf(name));
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign up" }).click();
  await nameOf(page, name).waitFor();
}

/** Signs in with a Hillside user. */
async function signInWithHillside(page: Page, name: string): Promise<void> {
  await page.getByRole("link", { name: "Sign in", exact: true }).first()
    .click();
  await page.getByRole("link", { name: "Sign in with Hillside" }).click();
  await page.getByRole("button", { name }).click();
  await nameOf(page, name).waitFor();
  // Buttons don't work before the script has run.
  await page.waitForLoadState();
}

/** Returns the link to the account of the signed-in user. */
const nameOf = (page: Page, name: string) =>
  page.locator("header").getByRole("link", { name, exact: true });

Deno.test("Atlas and its users in browsers", async (t) => {
  await using browser = await startBrowser();

  await t.step(
    "a user can sign up, sign out and sign in again without scripts",
    async () => {
      await using atlas = serveAtlas();
      await using view = await browser.newPage();
      const context = await view.page.context().browser()!.newContext({
        javaScriptEnabled: false,
      });
      const page = await context.newPage();
      await page.goto(`${atlas.origin}/countries/ISL`);
      await page.getByText("Sign in to mark Iceland as a favourite.").waitFor();
      await page.getByRole("main").getByRole("link", { name: "Sign in" })
        .click();
      await page.getByRole("link", { name: "Sign up" }).click();
      await signUp(page, "Ada");
      assertEquals(new URL(page.url()).pathname, "/countries/ISL");

      await nameOf(page, "Ada").click();
      await page.getByRole("button", { name: "Sign out", exact: true }).click();
      await page.getByText("Sign in to keep favourites.").waitFor();

      await page.getByRole("link", { name: "Sign in" }).first().click();
      await page.getByLabel("E-mail address").fill(emailOf("Ada"));
      await page.getByLabel("Password").fill("not the password");
      await page.getByRole("button", { name: "Sign in" }).click();
      const problem = page.getByRole("alert");
      assertEquals(
        await problem.innerText(),
        "The e-mail address or password is wrong",
      );
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await nameOf(page, "Ada").waitFor();

      await nameOf(page, "Ada").click();
      await page.getByRole("button", { name: "Sign out everywhere" }).click();
      await signInWithHillside(page, "Grace Hopper");
      await context.close();
    },
  );

  await t.step("the admin's edits appear to others at once", async () => {
    await using atlas = serveAtlas();
    await using visitor = await browser.newPage();
    await using admin = await browser.newPage();
    const path = `${atlas.origin}/countries/CHE`;
    await visitor.page.goto(path);
    await visitor.page.getByText("Bern", { exact: true }).waitFor();

    await admin.page.goto(`${atlas.origin}/sign-up?next=/countries/CHE`);
    await signUp(admin.page, "Ada");
    await admin.page.getByRole("link", { name: "Edit Switzerland" }).click();
    await admin.page.getByLabel("Capital").fill("Zürich");
    await admin.page.getByRole("button", { name: "Save" }).click();
    await admin.page.getByText("Zürich", { exact: true }).waitFor();

    await visitor.page.reload();
    await visitor.page.getByText("Zürich", { exact: true }).waitFor();
    assertEquals([...visitor.errors, ...admin.errors], []);
  });

  await t.step(
    "signing out everywhere ends open pages elsewhere",
    async () => {
      await using atlas = serveAtlas();
      await using here = await browser.newPage();
      await using there = await browser.newPage();
      for (const { page } of [here, there]) {
        await page.goto(`${atlas.origin}/countries/ISL`);
        await signInWithHillside(page, "Ada Lovelace");
      }
      const star = { name: "Favourite Iceland" };
      await there.page.getByRole("button", star).click();
      await here.page.getByRole("button", { ...star, pressed: true }).waitFor();

      await here.page.goto(`${atlas.origin}/account`);
      assertEquals(await here.page.getByRole("listitem").count(), 2);
      await here.page.getByRole("button", { name: "Sign out everywhere" })
        .click();
      await here.page.getByText("Sign in to keep favourites.").waitFor();
      // No one has touched this page.
      await there.page.getByText("Sign in to mark Iceland as a favourite.")
        .waitFor();
      await there.page.getByRole("button", star).waitFor({ state: "detached" });
      assertEquals(here.errors, []);
      assertEquals(there.errors, []);
      assertEquals([...here.foreignRequests, ...there.foreignRequests], []);
    },
  );

  for (const colorScheme of ["light", "dark"] as const) {
    await t.step(
      `axe finds no serious violation in ${colorScheme}`,
      async () => {
        await using atlas = serveAtlas();
        await using view = await browser.newPage();
        const { page } = view;
        await page.emulateMedia({ colorScheme });
        const check = async () => {
          await loadAxe(page);
          await assertAccessible(page);
        };
        await page.goto(`${atlas.origin}/sign-in?next=/account`);
        await check();
        await page.getByRole("link", { name: "Sign up" }).click();
        // Both pages have a field for the password.
        await page.getByLabel("Name").waitFor();
        await page.getByLabel("Password").fill("short");
        // Otherwise the browser would reject the form itself.
        await page.locator("form").evaluate((form) =>
          form.setAttribute("novalidate", "")
        );
        await page.getByRole("button").click();
        await page.getByText("Enter a valid e-mail address").waitFor();
        await check();
        await signUp(page, "Ada");
        await check();
        for (const path of ["/", "/countries/CHE", "/admin/countries/CHE"]) {
          await page.goto(atlas.origin + path);
          await check();
        }
      },
    );
  }
});
